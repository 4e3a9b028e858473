"""A server on the loopback interface that speaks S3."""

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session")
def s3_server() -> Iterator[str]:
    """Its endpoint; this process and those that it starts find it through the environment."""
    pytest.importorskip("s3fs", reason="s3fs is not installed")
    server = pytest.importorskip("moto.server", reason="moto's server is not installed")
    running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    added = {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "nobody",
        "AWS_SECRET_ACCESS_KEY": "nothing",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    before = {name: os.environ.get(name) for name in added}
    os.environ.update(added)
    try:
        yield added["AWS_ENDPOINT_URL"]
    finally:
        running.stop()
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@pytest.fixture
def bucket(s3_server: str, request: pytest.FixtureRequest) -> str:
    """A new one, as a URL."""
    import s3fs

    name = f"b{abs(hash(request.node.nodeid)):x}"
    files = s3fs.S3FileSystem()
    files.mkdir(name)
    return f"s3://{name}"

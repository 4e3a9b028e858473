"""What the tests of a sender's loss habits begin with."""

from tests.scene import Scene

SEGMENT = 1_448
BURSTS = 8
EACH = 3 * SEGMENT


def acknowledged(scene: Scene, rtt_ms: float) -> int:
    """A request, and bursts of three segments of which each is acknowledged; gives how much the server sent."""
    scene.handshake(rtt_ms=rtt_ms)
    scene.request()
    for _ in range(BURSTS):
        scene.server_sends(EACH, tso=1)
        scene.client_acks()
        scene.wait_ms(30)
    return BURSTS * EACH

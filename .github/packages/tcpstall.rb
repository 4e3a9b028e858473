# A draft for a tap. At a release: version and sha256 of its sdist, then `brew update-python-resources tcpstall`
# writes a resource for each dependency below `depends_on`.
class Tcpstall < Formula
  include Language::Python::Virtualenv

  desc "Reads TCP captures and says why a sender waited"
  homepage "https://pypi.org/project/tcpstall/"
  url "https://files.pythonhosted.org/packages/source/t/tcpstall/tcpstall-0.1.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "MIT"

  depends_on "rust" => :build
  depends_on "numpy"
  depends_on "pillow"
  depends_on "python-matplotlib"
  depends_on "python@3.13"

  def install
    virtualenv_install_with_resources
    system bin/"tcpstall", "man", "--output", share
  end

  test do
    assert_match "zero-window", shell_output("#{bin}/tcpstall explain")
  end
end

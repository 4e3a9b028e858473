"""`python -m tcpstall`."""

import sys

from tcpstall.cli import main

sys.exit(main())

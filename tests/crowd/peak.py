"""`python peak.py COMMAND…`: runs a command without output and prints the most memory it held, bytes.

A process of its own and small, because Linux counts the memory of the starter as that of the started process.
"""

import os
import subprocess
import sys

process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
process.returncode = os.waitstatus_to_exitcode(status)
if process.returncode:
    sys.exit(f"{sys.argv[1:]} ended with {process.returncode}")
print(usage.ru_maxrss * (1 if sys.platform == "darwin" else 1_024))

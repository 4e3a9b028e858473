"""`python -m tests.questions --write`: the columns in the page on the store, written anew."""

import sys

from tests.questions.document import DOCUMENT, written

if __name__ == "__main__":
    if "--write" in sys.argv[1:]:
        DOCUMENT.write_text(written())
    else:
        sys.stdout.write(written())

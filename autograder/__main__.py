"""The entry point: `autograder`, and `python -m autograder`.

The current folder may be a stranger's, so nothing is imported from there, here or in an interpreter that is started
from here.
"""

import os
import sys

if __name__ == "__main__" and not sys.flags.safe_path:
    del sys.path[0]  # `python -m` puts the current folder first
os.environ["PYTHONSAFEPATH"] = "1"

from autograder.commands.cli import main

if __name__ == "__main__":
    main()

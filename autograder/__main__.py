"""The entry point: `autograder`, and `python -m autograder`.

The current folder may be somebody else's, so nothing is imported from there, here or in an interpreter that is started
from here.
"""

import gc
import os
import signal
import sys

if __name__ == "__main__" and not sys.flags.safe_path:
    del sys.path[0]  # `python -m` puts the current folder first
os.environ["PYTHONSAFEPATH"] = "1"
os.environ.setdefault("OMP_NUM_THREADS", "1")  # small tensors lose by threads that wait for each other
# What is imported stays. By Python's own numbers the collector looks through all of it, a fifth of the time to start.
gc.set_threshold(20_000, 10, 10)
# As long as there is nothing to end in order, Ctrl-C ends this at once: an import that is interrupted is twenty lines.
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

try:
    from autograder.cli.main import main
except ModuleNotFoundError as error:
    if error.name not in ("fcntl", "resource"):  # parts of Python that Windows does not have
        raise
    print(
        "autograder: the command line needs Linux or macOS. In JupyterLab, check and hint work here.", file=sys.stderr
    )
    sys.exit(2)

if __name__ == "__main__":
    main()

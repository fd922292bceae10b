"""The entry point: `autograder`, and `python -m autograder`.

The current folder may be somebody else's, so neither this process nor the interpreters that it starts import from it.
"""

import gc
import os
import signal
import sys

if __name__ == "__main__" and not sys.flags.safe_path:
    del sys.path[0]  # `python -m` puts the current folder first
os.environ["PYTHONSAFEPATH"] = "1"
os.environ.setdefault("OMP_NUM_THREADS", "1")  # for small tensors, threads cost more than they gain
# Imported objects stay alive. With Python's default thresholds, scanning them takes a fifth of the start-up time.
gc.set_threshold(20_000, 10, 10)
# Until there is something to shut down, Ctrl-C ends the process at once, without the traceback of an import.
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

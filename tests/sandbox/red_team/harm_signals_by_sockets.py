# Tries to make the kernel send signals: socket owners, timers, parent death (aimed at the students' fork server).
# Must reach only its own processes.
# expect: {"answers": "all", "printed": "done\n"}
# %%
import ctypes, fcntl, os, signal, socket

ours, theirs = socket.socketpair()
for pid in (os.getppid(), 1, 2, 3):
    try:
        fcntl.fcntl(ours, fcntl.F_SETOWN, pid)
        fcntl.fcntl(ours, fcntl.F_SETSIG, signal.SIGSTOP)
        fcntl.fcntl(ours, fcntl.F_SETFL, fcntl.fcntl(ours, fcntl.F_GETFL) | os.O_ASYNC | os.O_NONBLOCK)
        if pid not in (os.getpid(), 1, 2, 3):
            theirs.send(b"x")
    except OSError:
        pass
ours.close()
ctypes.CDLL(None).prctl(1, 9, 0, 0, 0)
print("done")

# Tries to signal, limit and slow down every possible process number (aimed at the students' fork server).
# Must reach only its own processes.
# expect: {"answers": "all", "printed": "done\n"}
# %%
import os, resource, signal

for pid in [*range(1, 3000), os.getppid(), -1]:
    if pid == os.getpid():
        continue
    for what in (lambda: os.kill(pid, signal.SIGSTOP) if pid > 1 else None, lambda: resource.prlimit(pid, resource.RLIMIT_CPU, (0, 0)),
                 lambda: os.setpriority(os.PRIO_PROCESS, pid, 19), lambda: os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0))):
        try:
            what() if pid > 1 else None
        except (OSError, ValueError):
            pass
print("done")

"""Running untrusted code. docs/security.md says what the sandbox promises, and what it does not cover.

The processes, and what each of them knows:

    supervisor               the command itself, with its workers: submissions as bytes, the
      │                      gradebook. It reads one verdict for each submission
      └─ zygote              Python, NumPy, PyTorch and IPython, imported once. It knows no hidden
         │                   test and no submission, and forks the fork servers
         ├─ fork server      of judges: has loaded hidden tests, reference and known mistakes
         │   └─ judge        a fork for one submission: asks the notebook, gives its verdict, ends
         └─ fork server      of notebooks, one for each worker. The kit and the course are hidden
             │               from it
             └─ notebook     a fork for one submission, in a sandbox of its own: runs the cells
                 └─ exercise a fork for the calls of one exercise

The worker opens a judge. When the judge asks for a notebook, the worker opens one and passes on its socket. Messages
between the two do not go through the worker.

In the code, `sandboxed.zygote` forks fork servers, `sandboxed.fork_server` is one, and `sandboxed.notebook` runs the
cells. `backends` decides in which order rights are given up, and `linux` makes the system calls. `supervisor` starts
and ends processes. `limits` has the numbers: the trusted side limits CPU time, idle time and the size of replies, and
the kernel limits memory, processes and files.

bubblewrap is used if it works, with Landlock inside it. Otherwise Landlock is the sandbox. Both use seccomp. If neither
works, there are limits and no sandbox.
"""

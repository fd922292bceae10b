"""Running code nobody trusts.

A warm process (NumPy, PyTorch and IPython imported) starts once in bubblewrap and forks for every submission, which
forks for the tests. See `server` for the processes inside, `shell` for what a submission finds there, `walls` for what
it cannot get past, `client` for the trusted side, `limits` for the numbers.

Where bubblewrap works, a submission keeps to this; each line's short name is the name of its test:

- no network: it reaches no network, not even loopback, and no family of sockets that belongs to none
- no secrets: it sees Python and the system's libraries; no solutions, suites, submissions, gradebook, home, environment
- no other process: it sees and signals no process but its own, and cannot harm the one that forks
- private scratch: it has scratch space that is limited, and gone with the submission, shared memory included
- not root: it runs as nobody where root started it, with no capability and no way to gain one
- no system calls that only an attack needs: tracing, mounting, keyrings, kernel interfaces with a history of faults
- data only: it gives back plain values and arrays; dtype, shape and size are checked before anything is made of them
- size of what comes back: a message, all of them together, and what they become in memory have limits
- one cause, one loss: what loops, exits, crashes or takes too much memory loses the tests that met it, and no others
- deadlines are kept by the trusted side: it waits for no reply, no reader and no end of a stream past them
- no state: nothing that one test did reaches another
- no ready made attention: PyTorch's own is not in the sandbox; a test that asks for it is known on the trusted side
- questions cost little: how often and how much student code may ask of the reference is limited there, not here

Limits. Wall clock (a call, a cell, a submission), the size of replies and printed text are kept by the trusted side and
hold everywhere. The kernel keeps those of a process: CPU, memory, files, scratch. With a control group (root, a systemd
user session, a container that was given its own; see `cgroup`) memory, number of processes and one processor are limits
of the submission as a whole. Without one, memory is each process's own, and there are fewer processes, so that the
worst case stays some gigabytes. Without bubblewrap (`--sandbox process`, macOS, containers without user namespaces)
there are the limits and the deadlines, and no wall: student code can read what the user can read, and use the network.

Not covered, in words so that nobody relies on it:

- The kernel's own bugs: all submissions share the machine's kernel.
- Timing: a submission can see the clock, and how busy the machine is.
- Machine code. Ready-made attention is taken out of PyTorch's dispatcher and Python, its libraries are hidden; its
  instructions are still in memory, and ctypes with a hand-made C++ call would find them. Nor is PyTorch's Python source
  hidden: copying that is fine. Where there is no bubblewrap, a new process has all of PyTorch.
- State that hides. Where a notebook's text shows that its functions can keep nothing from one call to the next (see
  `marking.stateless`), the tests' calls share a process; where it may, they do not, or are compared. Code that keeps
  something past that reading can tell its calls apart, and learns from none what another is judged by.
- What a report says. An exception's text, a type's name and a traceback's lines are quoted, with numbers cut to two
  digits, only if nothing has been answered by the reference in that exercise (see `judging.words`). Shapes, the keys of
  a dict and a wrong value are the student's own, too: code that hides an input in them can show some of it.
- Ready-made convolution, which one exercise makes out of heads, is watched from inside the student's process only.
- What a student's process says of itself. Gradients and arguments after a call are values that it reports: they are
  judged against the function on the trusted side, and who forges right ones has found another way to compute them.
  Names and shapes of a module's parameters are its word.
"""

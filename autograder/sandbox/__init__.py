"""Running untrusted code.

Who takes part, and who knows what:

    supervisor               the command itself, with its workers: submissions as bytes, the
      │                      gradebook. It reads nothing that student code has said but one verdict
      │                      for each submission, field by field (`worker.verdict`)
      └─ zygote              Python, NumPy, PyTorch and IPython, imported once. It knows no hidden
         │                   test and no submission, and forks the fork servers
         ├─ fork server      of judges. It has loaded hidden tests, reference, known mistakes, and
         │   │               no submission
         │   └─ judge        a fork for one submission: asks the notebook, gives its verdict, ends
         └─ fork server      of notebooks, one for each worker. The kit and the course are hidden
             │               from it
             └─ notebook     a fork for one submission, in a sandbox of its own: runs the cells
                 └─ exercise a fork for the calls of one exercise

Behind bubblewrap a fork server has namespaces of its own. So students' and judges' processes do not
see each other, and a notebook, in namespaces below those, cannot uncover what is hidden from its
fork server. If root started the command, each fork server also has a user of its own, which nothing
else on the machine has. So what the kernel counts for a user is counted for that fork server alone.
If an ordinary user did, all of it runs as that user, and a notebook cannot use up what the user's
other programs need.

The worker opens a judge. When the judge asks for a notebook, the worker opens one and hands over
its socket. What the two say to each other does not pass through the worker. A judge may start no
process, open no socket, signal nobody and write nowhere. It sees the kit and the course's sources,
and no submission but its own. If it crashes, blocks or is filled up, its submission is not graded,
and the report says why.

A process that ends takes marks along only if the end is the student's own: an exit, a crash, a
limit that was met. Student code cannot send itself SIGKILL or SIGTERM, so these two come from
outside, as when the machine is short of memory. Then the cells or the call run once more in a fresh
process. If that is lost, too, the submission is not graded, and the report says why. After three
such submissions in a row the worker grades the course's own solution. If that fails, too, the run
stops.

In the code, `sandboxed.zygote` forks fork servers, `sandboxed.fork_server` is a fork server,
`sandboxed.notebook` runs the cells. `backends` says which right is given up where, and in which
order. `sandboxed.isolation` and `sandboxed.seccomp` ask the kernel for it. `supervisor` starts and
ends processes, and `limits` has the numbers.

There are two backends. bubblewrap gives namespaces: users, mounts, processes and a network of one's
own. Landlock is a sandbox that a process builds around itself, without namespaces and without
rights, so it also works in containers. If bubblewrap works, it is used, and Landlock stands inside
it. If it does not, Landlock is the sandbox. Seccomp is part of both. What a submission keeps to
behind either stands in `backends.promises`.

Limits. The trusted side keeps wall-clock (a call, a cell, a submission), the size of replies and
printed text; these hold everywhere. The kernel keeps the limits of a process: CPU, memory, files,
scratch. If there is a control group (root, a systemd user session, a container that was given its
own; see `cgroup`), then memory, the number of processes and one processor are limits of the
submission as a whole. If there is none, memory is each process's own, and fewer processes are
allowed, so that the worst case stays some gigabytes. If neither backend works (`--sandbox process`,
a kernel before 5.13), there are the limits and the deadlines, and no sandbox: student code can read
what the user can read, and use the network.

Where Landlock is the whole sandbox, some things are done another way:

- Scratch is a folder. The students' fork server looks at the disk's free space two hundred times a
  second, and counts what is in the folder when that falls, or once a second. Past 64 MB or
  4096 files the cell or the call is ended with that reason, and so is one that makes a folder which
  cannot be looked into. In all that was tried, never more than 256 MB were there, and half a second
  later less than 64 MB; with four busy programs on each processor, never more than 1 GB. Blocks
  cannot be allocated without being written.
- A submission is one process group, which it cannot leave. If the zygote itself is killed
  from outside, such as for want of memory, the notebook ends with it, but a program that a cell has
  started may go on, still walled in, until somebody ends it.
- There are no sockets but pairs, and no shared memory by name (`multiprocessing.Lock`). Nobody
  changes the mode, owner or times of a file.
- Paths can be asked about, though not opened: whether a file is there, its size and its times. So
  can the numbers of processes. A disk that notes when a file was last read, once a day, keeps such
  a note for the submissions after it.
- If root alone can get at Python (`/root/.pyenv`), student code keeps the right to pass over what
  only root may look up: CAP_DAC_READ_SEARCH, or in Docker CAP_DAC_OVERRIDE. Landlock still says
  what it may open, and where it may write.
- Landlock has grown with Linux. Before 6.12 it knows nothing of signals. Then student code may send
  none, and a program that an exercise starts ends with the notebook. Commands that grade warn.

Not covered, in words so that nobody relies on it:

- The kernel's own bugs: all submissions share the machine's kernel.
- Timing: a submission can see the clock, how busy the machine is, and how long it takes to read a
  file. Two that mean to can tell each other a few bits so.
- Locks. No file can be locked, since two submissions could tell each other a word with one. So
  `sqlite3` works in memory, and with a file only if it is opened without locks (`nolock=1`).
- Machine code. What is ready-made is taken out of PyTorch's dispatcher, under every key, of the
  libraries' Python, and of the tables from which their modules in C are made. The libraries are
  hidden from new processes. Its instructions are still in memory, and
  ctypes with a hand-made call would find them. So would an operator of TorchScript's (`prim::`)
  that is not in the dispatcher. Without a sandbox, a new process has all of PyTorch and NumPy.
- Source. What is taken out is emptied in the installed files, too. Whoever brings PyTorch's source
  along as text, or builds the same from its smaller parts, has written it.
- Ready-made functions that nobody has found, and those of other packages: `scipy.signal`, windows
  of pandas with weights, lists in sympy. `python -m tools.find_ready_made` looks at PyTorch and
  NumPy. It calls everything that a name, a module's name or a signature makes suspect, with a few
  small inputs. If a function looks like nothing, or wants other arguments, it is not seen.
- Sums that are the student's own: windows (`unfold`), spectra (`fft`) and products make what is
  forbidden in another way, and no test can tell.
- Notes that code leaves for itself. Before the reference has answered anything, all exercises are
  judged with one scratch space, and code that means to can hand its own values on from one to the
  next. They tell it nothing that it was not asked. What is judged behind the reference runs anew,
  with scratch of its own. There, cells that compare with what is ready-made get the answers that
  they had the first time, and no new ones.
- What a report says. An exception's text is quoted as far as it stands in the notebook's code or is
  one of the libraries', with eight numbers of two digits at most, three such texts an exercise, and
  none once the reference has answered something there (see `testing.quoting`). Types and lines of a
  traceback must stand in the code. Shapes and one wrong value a test are the student's own, too:
  code that hides an input in them can show some bytes of it.
- Tables. One case of each test of values has one of four inputs, by the course's secret and the
  notebook's cells (see `testing.variants`). Without a secret anybody can compute them. Tests that
  pass models or token ids keep their inputs.
- Memory that a hidden test bounds. From 16 MiB on all processes of a submission are measured from
  outside, those that end meanwhile every 10 milliseconds (see `sandboxed.memory_watch`).
- What a student's process says of itself. Gradients, and arguments after a call, are values that it
  reports. They are judged against the function on the trusted side, and whoever forges right ones
  has found another way to compute them. Names and shapes of a module's parameters are its word.
"""

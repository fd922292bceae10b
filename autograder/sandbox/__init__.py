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

Behind bubblewrap a fork server has namespaces of its own, so students' and judges' processes do not
see each other. A notebook has namespaces below those, and cannot uncover what is hidden from its
fork server. If root started the command, each fork server is a user of its own, whom nothing else
on the machine has, and the kernel counts for it alone. If an ordinary user started it, all
processes run as that user. Limits then keep a notebook from using up what the user's other programs
need.

The worker opens a judge. When the judge asks for a notebook, the worker opens one and hands over
its socket. What the two say to each other does not pass through the worker. A judge may start no
process, open no socket, signal nobody and write nowhere. It sees the kit, the course's sources and
its own submission. If it crashes, blocks or is filled up, its submission is not graded, and the
report says why. The judges' fork server runs the course's solution, which may write in a folder
that no judge can write in; on a kernel without Landlock there is none.

If a process ends, marks are lost only if the student's code ended it: an exit, a crash, or a limit
that it met. Student code cannot send itself SIGKILL or SIGTERM, so these two come from outside, as
when the machine is short of memory. Then the cells or the call run once more in a fresh process. If
that is lost, too, the submission is not graded, and the report says why. After three such
submissions in a row the worker grades the course's own solution. If that fails, too, the run stops.

In the code, `sandboxed.zygote` forks fork servers, `sandboxed.fork_server` is one, and
`sandboxed.notebook` runs the cells. `backends` says in which order which right is given up. `linux`
asks the kernel for it. `supervisor` starts and ends processes. `limits` has the numbers.

There are two backends. bubblewrap gives namespaces: users, mounts, processes and a network of one's
own. Landlock is a sandbox that a process builds around itself. It needs no namespaces and no
rights, so it also works in containers. If bubblewrap works, it is used, with Landlock inside it. If
it does not, Landlock is the sandbox. Seccomp is part of both.

Limits. The trusted side limits wall-clock time (of a call, a cell, a submission), the size of
replies and printed text. These limits hold everywhere. The kernel limits each process: CPU, memory,
files, scratch. If there is a control group (`cgroup`: root, a systemd user session, a container
with one of its own), memory, the number of processes and one processor are limits of the whole
submission. If there is none, memory is limited for each process, and fewer processes are allowed,
so the worst case stays at some gigabytes. If neither backend works (`--sandbox process`, a kernel
before 5.13), there are limits and no sandbox: student code can read what the user can read, and use
the network.

If Landlock is the whole sandbox, some things differ:

- Scratch is a folder. The students' fork server looks at the disk's free space two hundred times a
  second. It counts what is in the folder when free space falls, and once a second. Past 64 MB or
  4096 files it ends the cell or the call. It also ends one that makes a folder which cannot be
  looked into. In all that was tried, never more than 256 MB were there, and half a second later
  less than 64 MB; with four busy programs on each processor, never more than 1 GB. Blocks cannot be
  allocated without being written.
- A submission is one process group, which it cannot leave. If somebody outside kills the zygote,
  the notebook ends with it. A program that a cell has started may go on, still in its sandbox.
- There are no sockets but pairs, and no shared memory by name (`multiprocessing.Lock`). Nobody
  changes the mode, owner or times of a file.
- Student code can ask whether a path exists, its size and its times, but cannot open it. It can ask
  which process numbers there are. A disk that notes once a day when a file was last read keeps such
  a note for the submissions after it.
- If Python lies where root alone gets (`/root/.pyenv`), student code keeps the right to look up
  such paths: CAP_DAC_READ_SEARCH, or in Docker CAP_DAC_OVERRIDE. Landlock still says what it may
  open, and where it may write.
- Landlock has grown with Linux. Before 6.12 it knows nothing of signals. Then student code may send
  none, and a program that an exercise starts ends with the notebook. Commands that grade warn.

Not covered:

- The kernel's own bugs: all submissions share the machine's kernel.
- Timing: a submission can see the clock, how busy the machine is, and how long it takes to read a
  file. Two submissions that mean to can tell each other a few bits.
- Locks: no file can be locked, since two submissions could tell each other a word with one. So
  `sqlite3` works in memory, and with a file only without locks (`nolock=1`).
- Machine code: what is ready-made is taken out of PyTorch's dispatcher, under every key, of the
  libraries' Python, and of the tables from which their modules in C are made. New processes do
  not see the libraries. Its instructions are still in memory, and ctypes with a hand-made call
  would find them. So would an operator of TorchScript (`prim::`) that is not in the dispatcher.
  Without a sandbox, a new process has all of PyTorch and NumPy.
- Source: the installed files of what is taken out are emptied, too. Whoever brings PyTorch's source
  along as text, or builds the same from smaller parts, has written it.
- Ready-made functions that nobody has found, and those of other packages (`scipy.signal`, weighted
  windows of pandas, lists in sympy). `python -m tools.find_ready_made` calls whatever in PyTorch
  and NumPy a name, a module's name or a signature makes suspect, with a few small inputs. It does
  not see a function that looks like nothing, or wants other arguments.
- The student's own sums: windows (`unfold`), spectra (`fft`) and products make what is forbidden in
  another way, and no test can tell.
- Notes that code leaves for itself: before the reference has answered anything, all exercises share
  one scratch space. Code that means to can hand its own values from one exercise to the next. They
  tell it nothing that it was not asked. An exercise that is judged with the reference runs anew,
  with scratch of its own. There, cells that compare with what is ready-made get the answers of the
  first time, and no new ones.
- What a report says: it quotes an exception's text as far as that stands in the notebook's code or
  is one of the libraries', with eight numbers of two digits at most, three such texts an exercise,
  and none once the reference has answered something there (`testing.quoting`). Types and lines of a
  traceback must stand in the code. Shapes and one wrong value a test are the student's own, too:
  code that hides an input in them can show some bytes of it. Of what a call prints or writes one
  line a test is quoted, by the rule for exceptions.
- Tables of answers: one case of each test of values has one of four inputs, by the course's secret
  and the notebook's cells (`testing.variants`). Without a secret anybody can compute them. Tests
  that pass models or token ids keep their inputs.
- Memory that a hidden test bounds: from 16 MiB on all processes of a submission are measured from
  outside, those that end meanwhile every 10 milliseconds (`sandboxed.memory_watch`).
- What a student's process says of itself: it reports gradients, arguments after a call, and what a
  call printed, wrote or drew. They are judged against the function on the trusted side, and whoever
  forges right ones has found another way to compute them. Names and shapes of a module's parameters
  are its word."""

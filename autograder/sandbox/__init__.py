"""Running untrusted code.

The processes, and what each of them knows:

    supervisor               the command itself, with its workers: submissions as bytes, the
      │                      gradebook. Of what student code sends it reads one verdict for each
      │                      submission, field by field (`worker.verdict`)
      └─ zygote              Python, NumPy, PyTorch and IPython, imported once. It knows no hidden
         │                   test and no submission, and forks the fork servers
         ├─ fork server      of judges. It has loaded hidden tests, reference and known mistakes,
         │   │               but no submission
         │   └─ judge        a fork for one submission: asks the notebook, gives its verdict, ends
         └─ fork server      of notebooks, one for each worker. The kit and the course are hidden
             │               from it
             └─ notebook     a fork for one submission, in a sandbox of its own: runs the cells
                 └─ exercise a fork for the calls of one exercise

With bubblewrap each fork server has its own namespaces, so students' and judges' processes do not
see each other. A notebook has namespaces below those, and cannot uncover what is hidden from its
fork server. If root started the command, each fork server runs as a user that nothing else on the
machine has, and the kernel's limits for a user hold for it alone. If an ordinary user started it,
all processes run as that user. Limits then keep a notebook from using up what the user's other
programs need.

The worker opens a judge. When the judge asks for a notebook, the worker opens one and passes on its
socket. Messages between the two do not go through the worker. A judge cannot start a process, open
a socket, send a signal or write a file. It sees the kit, the course's sources and its own
submission. If it crashes, blocks or runs out of something, its submission is not graded, and the
report says why. The judges' fork server runs the course's solution, which may write in a folder
that no judge can write in. On a kernel without Landlock there is no such folder.

If a process ends, marks are lost only if the student's code ended it: by an exit, a crash, or a
limit. Student code cannot send itself SIGKILL or SIGTERM, so these two come from outside, for
example because the machine is short of memory. Then the cells or the call run once more in a fresh
process. If that is lost, too, the submission is not graded, and the report says why. After three
such submissions in a row the model answer is graded once more, as at the start of the run. If it
does not get full marks, nobody else is graded in that assignment.

In the code, `sandboxed.zygote` forks fork servers, `sandboxed.fork_server` is one, and
`sandboxed.notebook` runs the cells. `backends` decides in which order rights are given up, and
`linux` makes the system calls. `supervisor` starts and ends processes. `limits` has the numbers.

There are two backends. bubblewrap gives namespaces: own users, mounts, processes and network.
Landlock is a sandbox that a process builds around itself. It needs no namespaces and no rights, so
it also works in containers. bubblewrap is used if it works, with Landlock inside it. Else Landlock
is the sandbox. Both use seccomp.

Limits. The trusted side limits CPU time, idle time and, further out, time on the clock (of a call,
a cell, a submission), and the size of replies and printed text. These limits hold everywhere. The
kernel limits each process: CPU, memory, files, scratch. With a control group (`cgroup`: root, a
systemd user session, a container with one of its own), the limits on memory, the number of
processes and one processor hold for the whole submission. Without one, memory is limited for each
process, and fewer processes are allowed, so the worst case is some gigabytes. If neither backend
works (`--sandbox process`, a kernel before 5.13), there are limits and no sandbox: student code can
read what the user can read, and use the network.

If Landlock is the whole sandbox, some things differ:

- Scratch is a folder. The students' fork server looks at the disk's free space two hundred times a
  second. It counts the folder's files when free space falls, and once a second. Past 64 MB or 4096
  files it ends the cell or the call, and also if there is a folder that it cannot read. In all
  tests there were never more than 256 MB, and less than 64 MB half a second later; with four busy
  programs on each processor, never more than 1 GB. Blocks cannot be allocated without being
  written.
- A submission is one process group, which it cannot leave. If somebody outside kills the zygote,
  the notebook ends with it. A program that a cell has started may go on, still in its sandbox.
- There are no sockets but pairs, and no shared memory by name (`multiprocessing.Lock`). Nobody can
  change the mode, owner or times of a file.
- Student code can ask whether a path exists, its size and its times, but cannot open it. It can ask
  which process numbers there are. If a disk notes once a day when a file was last read, later
  submissions can see that note.
- If Python is where only root may go (`/root/.pyenv`), student code keeps the right to look up such
  paths: CAP_DAC_READ_SEARCH, or in Docker CAP_DAC_OVERRIDE. Landlock still decides what it may open
  and where it may write.
- Older kernels have less of Landlock. Before 6.12 it does not cover signals. Then student code may
  send none, and a program that an exercise starts ends with the notebook. Commands that grade warn.

Not covered:

- Bugs of the kernel: all submissions share the machine's kernel.
- Timing: a submission can see the clock, how busy the machine is, and how long it takes to read a
  file. Two submissions that cooperate can pass each other a few bits.
- Locks: no file can be locked, since two submissions could use a lock to pass a message. So
  `sqlite3` works in memory, and with a file only without locks (`nolock=1`).
- Ready-made functions called by code that works against the watch. It can undo or patch the watch or
  the code that answers; call the function in another process, in a thread, or in the backward pass of
  an autograd function of its own; take it from the libraries' private modules in C, load these modules
  or their source again, or run the source that a docstring holds. Such code is visible in its cell,
  and a cell that mentions a listed function by name is flagged.
- Ready-made functions that the exercise does not list, and the student's own arithmetic: windows
  (`unfold`), spectra (`fft`) and products compute a convolution in another way.
- Notes that code leaves for itself: until the reference has answered something, all exercises share
  one scratch space. Code can pass its own values from one exercise to the next on purpose. They
  tell it nothing that it was not asked. An exercise that is judged with the reference runs anew,
  with its own scratch.
- What a report says: it quotes an exception's text as far as that is in the notebook's code or is
  one of the libraries', with at most eight numbers of two digits, three such texts an exercise, and
  none once the reference has answered something there (`testing.quoting`). Types and lines of a
  traceback must be in the code. Shapes and one wrong value a test are the student's own, too: code
  that hides an input in them can show some bytes of it. Of what a call prints or writes, one line a
  test is quoted, by the rule for exceptions.
- Tables of answers: one case of each test of values has one of four inputs, chosen by the course's
  secret and the notebook's cells (`testing.variants`). Without a secret anybody can compute them.
  Tests that pass models or token ids keep their inputs.
- Memory that a hidden test limits: from 16 MiB on, all processes of a submission are measured from
  outside. One that ends during the call is measured every 10 milliseconds until then
  (`sandboxed.memory_watch`).
- What a student's process reports of itself: gradients, arguments after a call, and what a call
  printed, wrote or drew. They are judged against the function on the trusted side, and code that
  forges right ones has found another way to compute them. Names and shapes of a module's parameters
  are taken on trust."""

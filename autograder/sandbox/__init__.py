"""Running code nobody trusts.

A warm process (NumPy, PyTorch and IPython imported) starts once in bubblewrap and forks for every submission, which
forks for the tests. See `server` for the processes inside, `client` for the trusted side, `limits` for the numbers.

Where bubblewrap works, a submission

- no network: reaches no network, not even loopback
- no secrets: sees Python and the system's libraries; no solutions, suites, submissions, gradebook, home, environment
- no other process: sees and signals no process but its own
- private scratch: has scratch space that is limited, and gone with the submission
- not root: runs as nobody where root started it, with no capability and no way to gain one
- data only: gives back plain values and arrays, whose dtype, shape and size are checked before they are made
- one cause, one loss: that loops, exits, crashes or takes too much memory loses the tests that met it, and no others
- no state: keeps nothing from one failed test to the next

Not covered, in words so that nobody relies on it:

- Limits on memory and on open files hold for each process of a submission, not for all of them together.
- The kernel's own bugs: all submissions share the machine's kernel.
- Timing: a submission can see the clock, and how busy the machine is.
- Without bubblewrap (`--sandbox process`, macOS, containers without user namespaces) there is a separate process, its
  limits and its deadlines, and no wall: student code can read what the user can read, and use the network.
"""

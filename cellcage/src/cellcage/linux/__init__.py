"""What Linux enforces: namespaces, limits, seccomp, Landlock, signals. It reads nothing that untrusted code sends."""

"""What Linux is asked to enforce: namespaces, limits, seccomp, Landlock, signals. Reads no word of a student's."""

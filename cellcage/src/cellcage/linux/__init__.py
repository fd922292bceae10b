"""What Linux enforces: namespaces, limits, seccomp, Landlock, signals. Nothing that student code sends is read here."""

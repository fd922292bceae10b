"""The code that runs in the sandbox."""

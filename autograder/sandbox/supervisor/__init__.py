"""What starts and ends what runs in the sandbox."""

"""What starts and ends what runs behind the wall."""

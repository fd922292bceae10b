"""What a student meets: checks beside the exercises, and pictures."""

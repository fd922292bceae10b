"""Which mistake it is: the known ones, what they answer, and how wrong answers stand to the right ones."""

"""What several pictures of a7 show."""

SENTENCE = ("Keys", "on", "the", "table", "belong", "to", "Sarah")

"""What hidden suites share. How to write one: CONTRIBUTING.md, "A suite"."""

"""What hidden tests share. How to write one: CONTRIBUTING.md, "A suite"."""

"""Hidden suites, one file an assignment. How to write one: CONTRIBUTING.md, "A suite"."""

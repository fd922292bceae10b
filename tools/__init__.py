"""What maintainers run by hand."""

"""What hardens nbgrader against hostile hand-ins: their files, times, cells and texts, the exchange, and formgrader."""

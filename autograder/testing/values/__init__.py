"""How values are compared and written in messages. A folder for each family; `comparison.Comparison` adds another."""

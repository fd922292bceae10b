"""For students: `check`, `hint`, `heatmap`, `explore` in a notebook."""

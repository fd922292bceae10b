"""The values that need no package but NumPy: plain data, containers, numbers, arrays, objects."""

"""From submissions to reports: one at a desk, many over desks, and a journal for when a run is interrupted."""

"""From submissions to reports: one at a worker, many over workers, and a run log for when a run is interrupted."""

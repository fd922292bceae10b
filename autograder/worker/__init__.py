"""From submissions to reports: a worker marks one at a time, a pool many; an interrupted run goes on where it was."""

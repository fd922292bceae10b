"""From submissions to reports: a worker marks one at a time, a pool marks many, and a run log survives interruption."""

"""From outcomes to marks: the student fixture, the suite kept open, one submission to one report, many of them."""

"""For whoever writes assignments: what is in order, what follows from a source notebook, new exercises, pages."""

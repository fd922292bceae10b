def heatmap(*a, **k): pass

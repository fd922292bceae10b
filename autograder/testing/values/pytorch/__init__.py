"""Tensors of PyTorch."""

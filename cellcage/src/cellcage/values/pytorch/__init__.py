"""PyTorch tensors."""

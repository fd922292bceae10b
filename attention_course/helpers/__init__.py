"""What a notebook needs to train a small model and to look at it: made-up news, a decoder of PyTorch's own layers,
pictures of the loss and of what each head looks at. It knows nothing of the rest of the kit, and grading never uses it.
"""

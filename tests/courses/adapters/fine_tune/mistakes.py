"""Known mistakes of fine_tune."""

import torch

from autograder.testing import Catalogue

mistake = Catalogue()


@mistake.mutants(
    {
        "uphill": mistake.known({"sign": -1}, hint="Does the error fall from step to step?"),
        "sum-of-squares": mistake.known({"of": torch.sum}, hint="Is that the mean of the squared errors?"),
        "gradients-add-up": mistake.known({"clears": False}, hint="What is in .grad before the second step?"),
    }
)
def fine_tune(sign=1, of=torch.mean, clears=True):
    def tuned(weights, X, y, steps, rate):
        A, B = (weights[name].clone().requires_grad_() for name in "AB")
        base = X @ weights["base.weight"].T + weights["base.bias"]
        for _ in range(steps):
            of((base + X @ A.T @ B.T / len(A) - y) ** 2).backward()
            with torch.no_grad():
                for parameter in (A, B):
                    parameter -= sign * rate * parameter.grad
                    if clears:
                        parameter.grad.zero_()
        return A, B

    return tuned

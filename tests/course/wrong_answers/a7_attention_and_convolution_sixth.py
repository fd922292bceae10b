"""Written by a sixth person, from the notebooks alone."""

import numpy as np

from tests.helpers.wrong_answers import WrongAnswers

wrong = WrongAnswers()


@wrong("Taps that hear nothing are left out.", "parts-missing", "another-shape", "another-length", form=True)
def convolution_by_attention(X, kernel):
    L = len(X)
    k = kernel.shape[0]
    output = np.zeros((L, kernel.shape[2]), dtype=X.dtype)
    weights = []
    for j in range(k):
        offset = j - (k - 1) // 2
        if abs(offset) >= L:
            continue
        A = np.eye(L, k=offset, dtype=X.dtype)
        output += A @ X @ kernel[j]
        weights.append(A)
    return output, np.stack(weights)

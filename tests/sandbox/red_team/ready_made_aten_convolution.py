# Tries the operator below F.conv1d in another thread, where no mode of PyTorch's watches.
# Must earn nothing in the exercise, and the message must say why.
# expect: {"assignment": "a7_attention_and_convolution", "at_most": {"convolution_by_attention": 0}, "says": "ready-made"}
# %%
import threading
import numpy as np
import torch
def convolution_by_attention(X, kernel):
    k, left, found = len(kernel), (len(kernel) - 1) // 2, []
    padded = np.pad(X, ((left, k - 1 - left), (0, 0)))
    x, w = torch.from_numpy(padded.T.copy())[None], torch.from_numpy(kernel.transpose(2, 1, 0).copy())
    convolve = torch.ops.aten.convolution
    thread = threading.Thread(target=lambda: found.append(convolve(x, w, None, [1], [0], [1], False, [0], 1)))
    thread.start()
    thread.join()
    return found[0].numpy()[0].T.copy()

# Tries to bypass the dispatcher: each convolution operator, redispatched with each key that has a kernel.
# Must earn no points, and the message must say why.
# expect: {"assignment": "a7_attention_and_convolution", "at_most": {"convolution_by_attention": 0}, "says": "ready-made"}
# %%
import numpy as np
import torch
def tried(x, w):
    with torch.no_grad():
        for key in ("CPU", "CompositeExplicitAutograd", "CompositeImplicitAutograd", "AutogradCPU", "QuantizedCPU"):
            keys = torch._C.DispatchKeySet(getattr(torch._C.DispatchKey, key))
            for operator, rest in (
                (torch.ops.aten.convolution.default, (None, [1], [0], [1], False, [0], 1)),
                (torch.ops.aten.convolution_overrideable.default, (None, [1], [0], [1], False, [0], 1)),
                (torch.ops.aten.conv1d.default, (None, [1], [0], [1], 1)),
                (torch.ops.aten.slow_conv_dilated2d.default, ([1, 1], None, [1, 1], [0, 0], [1, 1])),
            ):
                for call in (
                    lambda: operator.redispatch(keys, x, w, *rest),
                    lambda: torch.library.get_kernel(operator, key).call_boxed(keys, x, w, *rest),
                    lambda: torch._C._dispatch_call_boxed(
                        torch._C._dispatch_find_schema_or_throw(operator._schema.name, ""), x, w, *rest),
                ):
                    try:
                        return call()
                    except Exception:
                        pass
    return torch.zeros(1, w.shape[0], x.shape[2] - w.shape[2] + 1)
def convolution_by_attention(X, kernel):
    k, left = len(kernel), (len(kernel) - 1) // 2
    padded = np.pad(X, ((left, k - 1 - left), (0, 0)))
    x, w = torch.from_numpy(padded.T.copy())[None], torch.from_numpy(kernel.transpose(2, 1, 0).copy())
    return tried(x, w).numpy()[0].T.astype(X.dtype)

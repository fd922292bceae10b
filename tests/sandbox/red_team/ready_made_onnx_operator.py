# Tries the operator that PyTorch registers for ONNX, directly and from the table of decompositions.
# Must earn no points. Its first call takes about as long as a call may take here, so either may be the reason.
# expect: {"at_most": {"torch_scaled_dot_product_attention": 0}}
# %%
import torch
import torch.onnx.ops._impl as impl
def torch_scaled_dot_product_attention(query, key, value):
    weights = torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)
    four = lambda t: t.reshape(-1, 1, *t.shape[-2:])
    back = lambda t: t.reshape(*query.shape[:-1], value.shape[-1])
    four_of = [four(t) for t in (query, key, value)]
    try:
        output = torch.ops.onnx.Attention.opset23(*four_of)[0]
    except RuntimeError:
        (output, *_), = [f(*four_of) for op, f in impl.ONNX_ATEN_DECOMP_TABLE.items() if "Attention" in str(op)]
    return back(output), weights

# Tries answers with one odd field each: kind, shape, stride, order, keys, depth (aimed at the judge).
# Must fail only those tests; the report is still made.
# expect: {"answers": ["attention_scores", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 0, "attention_scores": 0, "scaled_dot_product_attention": 0, "torch_scaled_dot_product_attention": 0}}
# %%
import sys
import msgpack

def deep(n):
    data = 1
    for _ in range(n):
        data = ["list", [data]]
    return data

EIGHT = b"12345678"
VALUES = [
    ["array", "float64", [1], [0], True, b""], ["array", "float64", [], [], True, EIGHT], ["array", "float64", [-1], [0], False, EIGHT],
    ["array", "float64", [2**62, 2**62, 0], [0, 1, 2], False, b""], ["array", "float64", [1.0], [0], False, EIGHT], ["array", "float64", [True], [0], False, EIGHT],
    ["array", "float64", [1], [-1], False, EIGHT], ["array", "float64", [1] * 33, list(range(33)), False, EIGHT], ["array", "object", [1], [0], False, EIGHT],
    ["array", ["float64"], [1], [0], False, EIGHT], ["array", "float64", [1], [0], False, "12345678"], ["array", "float64", None, None, False, EIGHT],
    ["tensor", ["array", "float16", [0, 4], [1, 0], True, b""]], ["tensor", ["array", "bool", [8], [0], True, bytes(range(8, 16))]], ["tensor", ["array", "uint8", [8], [0], 1, EIGHT]],
    ["scalar", "float64", [1], [0], False, EIGHT], ["scalar", "float64", [], [], False, b"\xff" * 8], 2**64 - 1, -(2**63), float("nan"), "\ud800", "\0\x1b[2J",
    ["dict", [[["list", []], 1], [["dict", []], 2], [float("nan"), 3], [float("nan"), 4], [2**64 - 1, 5]]], ["dict", [[1]]], ["dict", {"a": 1}],
    ["handle", ["softmax", ["x"], None]], ["handle", ["softmax", ["x"], ["dict", [["a", ["handle", ["b", [], None]]]]]]], ["handle", [1, 2, 3]],
    ["other", ["type", "x" * 10**6]], ["other", ["array", "x y" * 10**6]], ["other", ["no form", "x"]], ["other", ["type", None]], ["other", [[], "x"]], ["other", "x"], ["other", None], ["no tag", 1], [], [[]], [None], {}, {"a": {"b": 1}}, deep(15), deep(17), deep(400), b"bytes",
    ["tuple", [["array", "float64", [1], [0], False, EIGHT]] * 9000], ["list", ["x" * 1000] * 9000], msgpack.ExtType(5, b"x"), msgpack.Timestamp(1, 1),
]
FIELDS = [lambda v: [v, ["list", []], None, ["dict", []], ["dict", []]], lambda v: [1, v, None, ["dict", []], ["dict", []]],
          lambda v: [1, ["list", [v]], v, ["dict", [["W", v]]], ["dict", [["W", v]]]], lambda v: [1, ["list", []], ["list", [v]], v, v]]
calls = []

def framed(body):
    if "printed" in msgpack.unpackb(body, strict_map_key=False):
        return len(body).to_bytes(4, "big") + body  # the cell's own output, or the process ends here
    calls.append(1)
    number = len(calls)
    value, fields = VALUES[number % len(VALUES)], FIELDS[number % 4]
    message = {"failure": [value, value, value, [value]]} if number % 7 == 0 else {"reply": fields(value)}
    try:
        body = msgpack.packb(message, unicode_errors="surrogatepass")
    except Exception:
        body = b"\x80"
    return len(body).to_bytes(4, "big") + body

sys.modules["cellcage.inside.notebook_process"].frames.framed = framed

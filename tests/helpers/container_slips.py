"""Answers whose values are all right and whose container is another one, made of any model answer."""

from __future__ import annotations

from typing import Any

# In place of every array, tensor and number in the model answer, also within a tuple or a dict. A slip costs marks.
LEAVES = {
    "other library": "torch.from_numpy(np.array(v)) if array else v.detach().numpy() if tensor else v",
    "nested lists": "v.tolist() if array or tensor else v",
    "list of rows": "list(v) if (array or tensor) and v.ndim else v",
    "array for a number": "np.array(v) if number else v",
    "tensor for a number": "torch.tensor(v) if number else v",
}
# In place of the whole model answer.
WHOLE = {
    "tuple for a list": "tuple(v) if isinstance(v, list) else v",
    "list for a tuple": "list(v) if isinstance(v, tuple) else v",
    "dict for a tuple": "{f'part {n}': part for n, part in enumerate(v)} if isinstance(v, tuple) else v",
    "one more value": "(*v, v[-1]) if isinstance(v, tuple) and v else v",
    "tuple of one": "v if isinstance(v, tuple | list | dict) else (v,)",
    "list of one": "v if isinstance(v, tuple | list | dict) else [v]",
    "dict of one": "v if isinstance(v, tuple | list | dict) else {'result': v}",
    "array for a list": "np.array(v) if isinstance(v, list) else v",
}
# Containers as good as the right one.
ACCEPTED = {
    "subclass of ndarray": "v.view(_Array) if array and v.ndim else v",
    "masked array": "np.ma.masked_array(v) if array else v",
    "partly masked": "np.ma.masked_array(np.where(np.isnan(v), 0, v), np.isnan(v)) if array and is_float else v",
    "memmap": "np.frombuffer(v.tobytes(), v.dtype).reshape(v.shape).view(np.memmap) if array and v.size else v",
    "matrix": "np.asmatrix(v) if array and v.ndim == 2 else v",
    "negative bit": "torch.complex(0 * v, -v).conj().imag if tensor and is_float else v",
    "subclass of Tensor": "v.as_subclass(_Tensor) if tensor else v",
    "number of NumPy's": "np.asarray(v)[()] if isinstance(v, bool | int | float) else v",
}
HELPER = """
import numpy as np, torch

class _Array(np.ndarray): ...
class _Tensor(torch.Tensor): ...

def _put(v, leaves, form):
    if leaves and type(v) in (tuple, list):
        return type(v)(_put(part, leaves, form) for part in v)
    if leaves and isinstance(v, dict):
        return {name: _put(part, leaves, form) for name, part in v.items()}
    array, tensor = isinstance(v, np.ndarray), isinstance(v, torch.Tensor)
    is_float = array and v.dtype.kind == "f" or tensor and v.is_floating_point()
    number = isinstance(v, bool | int | float | np.generic)
    return eval(form, globals() | dict(v=v, array=array, tensor=tensor, is_float=is_float, number=number))


def _slip(function, leaves, form):
    def slipped(*args, **kwargs):
        return _put(function(*args, **kwargs), leaves, form)

    return slipped


def _slipped(code, leaves, form):
    if not isinstance(code, type):
        return _slip(code, leaves, form)
    methods = ["forward"] if hasattr(code, "forward") else [m for m in vars(code) if not m.startswith("__")]
    return type(code.__name__, (code,), {name: _slip(getattr(code, name), leaves, form) for name in methods})
"""
FORMS = {name: (True, form) for name, form in LEAVES.items()} | {name: (False, form) for name, form in WHOLE.items()}
AS_GOOD = {name: (True, form) for name, form in ACCEPTED.items()}


def slipped(code: Any, name: str) -> Any:
    """A function or class that answers as `code` does, in another container."""
    names: dict[str, Any] = {"__name__": "notebook"}
    exec(HELPER, names)
    return names["_slipped"](code, *(FORMS | AS_GOOD)[name])


def cell(exercise: str, name: str) -> str:
    """Source that does the same to an exercise that the notebook has defined."""
    leaves, form = (FORMS | AS_GOOD)[name]
    return f"{HELPER}\n{exercise} = _slipped({exercise}, {leaves}, {form!r})"

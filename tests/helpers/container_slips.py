"""Turns any model answer into one with right values in another container."""

from __future__ import annotations

from typing import Any

# Replace every array, tensor and number in the answer, also within a tuple or a dict. These slips cost marks.
LEAVES = {
    "other library": "torch.from_numpy(np.array(v)) if array else v.detach().numpy() if tensor else v",
    "nested lists": "v.tolist() if array or tensor else v",
    "list of rows": "list(v) if (array or tensor) and v.ndim else v",
    "array for a number": "np.array(v) if number else v",
    "tensor for a number": "torch.tensor(v) if number else v",
}
# Replace the whole answer.
WHOLE = {
    "tuple for a list": "tuple(v) if isinstance(v, list) else v",
    "list for a tuple": "list(v) if isinstance(v, tuple) else v",
    "dict for a tuple": "{f'part {n}': part for n, part in enumerate(v)} if isinstance(v, tuple) else v",
    "one more value": "(*v, v[-1]) if isinstance(v, tuple) and v else v",
    "tuple of one": "v if v is None or isinstance(v, tuple | list | dict) else (v,)",
    "list of one": "v if v is None or isinstance(v, tuple | list | dict) else [v]",
    "dict of one": "v if v is None or isinstance(v, tuple | list | dict) else {'result': v}",
    "array for a list": "np.array(v) if isinstance(v, list) else v",
}
# Containers that cost no marks.
ACCEPTED = {
    "subclass of ndarray": "v.view(_Array) if array and v.ndim else v",
    "masked array": "np.ma.masked_array(v) if array else v",
    "partly masked": "np.ma.masked_array(np.where(np.isnan(v), 0, v), np.isnan(v)) if array and is_float else v",
    "memmap": "np.frombuffer(v.tobytes(), v.dtype).reshape(v.shape).view(np.memmap) if array and v.size else v",
    "matrix": "np.asmatrix(v) if array and v.ndim == 2 else v",
    "negative bit": "torch.complex(0 * v, -v).conj().imag if tensor and is_float else v",
    "subclass of Tensor": "v.as_subclass(_Tensor) if tensor else v",
    "NumPy number": "np.asarray(v)[()] if isinstance(v, bool | int | float) else v",
}
HELPER = """
import numpy as np, torch

class _Array(np.ndarray): ...
class _Tensor(torch.Tensor): ...
_changed = [False]

def _put(v, leaves, form):
    if leaves and type(v) in (tuple, list):
        return type(v)(_put(part, leaves, form) for part in v)
    if leaves and isinstance(v, dict):
        return {name: _put(part, leaves, form) for name, part in v.items()}
    array, tensor = isinstance(v, np.ndarray), isinstance(v, torch.Tensor)
    is_float = array and v.dtype.kind == "f" or tensor and v.is_floating_point()
    number = isinstance(v, bool | int | float | np.generic)
    changed = eval(form, globals() | dict(v=v, array=array, tensor=tensor, is_float=is_float, number=number))
    _changed[0] |= changed is not v
    return changed
"""
FORMS = {name: (True, form) for name, form in LEAVES.items()} | {name: (False, form) for name, form in WHOLE.items()}
AS_GOOD = {name: (True, form) for name, form in ACCEPTED.items()}
SECOND = {"second value": (False, "(v, v)")}  # in addition to the right one


def slipped(code: Any, name: str) -> Any:
    """A function or class that gives the answers of `code` in another container.

    Its method `is_changed()` tells whether any answer has changed so far.
    """
    names: dict[str, Any] = {"__name__": "notebook", code.__name__: code}
    exec(cell(code, name), names)
    made = names[code.__name__]
    made.is_changed = lambda: names["_changed"][0]
    return made


def cell(code: Any, name: str) -> str:
    """The source of a cell that makes this change, for use below the cell that defines `code`."""
    leaves, form = (FORMS | AS_GOOD | SECOND)[name]
    exercise, own = code.__name__, f"_own_{code.__name__}"
    if not isinstance(code, type):
        body = f"def {exercise}(*args, **kwargs):\n    return _put({own}(*args, **kwargs), {leaves}, {form!r})"
    else:
        methods = ["forward"] if hasattr(code, "forward") else [m for m in vars(code) if not m.startswith("_")]
        body = f"class {exercise}({own}):" + "".join(
            f"\n    def {method}(self, *args, **kwargs):"
            f"\n        return _put({own}.{method}(self, *args, **kwargs), {leaves}, {form!r})"
            for method in methods
        )
    return f"{HELPER}\n{own} = {exercise}\n{body}"

"""Told from a notebook's text: can a call leave anything behind? What is not plain is no."""

from __future__ import annotations

import pytest

from autograder.judging.stateless import is_stateless
from autograder.submission import code_cells, read_notebook
from tests.in_process import ASSIGNMENTS, suite_of

PLAIN = {
    "a helper": """
def stable(x, axis):
    return x - x.max(axis=axis, keepdims=True)

def softmax(x, axis=-1):
    exps = np.exp(stable(x, axis))
    return exps / exps.sum(axis=axis, keepdims=True)
""",
    "its own imports": "import numpy\nfrom math import sqrt\ndef softmax(x): return numpy.exp(x) / sqrt(2)",
    "annotations": "def softmax(x: np.ndarray, axis: int = -1) -> np.ndarray: return x",
    "a constant of its own": "def softmax(x, fill=-np.inf, shape=(1, 2)): return np.full(shape, fill)",
    "a list it made": "def softmax(x):\n    rows = []\n    for row in x: rows.append(row)\n    return np.array(rows)",
    "an array it was given": "def softmax(x):\n    x[0] = 0\n    x += 1\n    return x",
    "a layer": """
class softmax(nn.Module):
    scale = 2
    def __init__(self, d_model):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_model)
        nn.init.xavier_uniform_(self.W_Q.weight)
        self.register_buffer("mask", torch.ones(3, 3).tril())
    def forward(self, x):
        self.weights = torch.softmax(self.W_Q(x), -1)
        return self.weights
""",
    "scratch beside it": """
rng = np.random.default_rng(0)
X = rng.normal(size=(3, 4))
log = []
def show(x): log.append(softmax(x))
def softmax(x): return np.exp(x)
print(softmax(X), np.__version__)
""",
    "a recursion": "def softmax(x): return x if x.ndim == 1 else np.stack([softmax(row) for row in x])",
    "a function in a function": "def softmax(x):\n    def shifted(y): return y - x.max()\n    return shifted(x)",
    "nothing at all": "",
}
KEEPING = {
    "a list of the notebook's": "seen = []\ndef softmax(x):\n    seen.append(x)\n    return x",
    "a global": "n = 0\ndef softmax(x):\n    global n\n    n += 1\n    return x",
    "a number of the notebook's, which a cell may change": "d_k = 4\ndef softmax(x): return x / d_k",
    "a global elsewhere": "def other():\n    global softmax\n    softmax = abs\ndef softmax(x): return x",
    "a mutable default": "def softmax(x, seen=[]):\n    seen.append(x)\n    return x",
    "a default that is made": "def softmax(x, seen=dict()): return x",
    "a keyword's default": "def softmax(x, *, seen={}): return x",
    "a lambda's default": "def softmax(x): return (lambda y, seen=[]: y)(x)",
    "a cache": "from functools import lru_cache\n@lru_cache\ndef softmax(x): return x",
    "a cache around it": "import functools\ndef softmax(x): return x\nsoftmax = functools.cache(softmax)",
    "a closure": """
def make():
    n = 0
    def counted(x):
        nonlocal n
        n += 1
        return x
    return counted
softmax = make()
""",
    "an attribute of the function": "def softmax(x):\n    softmax.seen = x\n    return x",
    "an attribute of the class": "class softmax:\n    def __init__(self):\n        type(self).seen = 1",
    "a dictionary of the class": "class softmax:\n    seen = {}\n    def __init__(self): self.seen[1] = 1",
    "an object of the notebook's": "layer = nn.Linear(3, 3)\ndef softmax(x): return layer(x)",
    "a helper that keeps": "seen = []\ndef kept(x):\n    seen.append(x)\n    return x\ndef softmax(x): return kept(x)",
    "a helper of a helper": "seen = {}\ndef a(x): return seen.setdefault(1, x)\ndef b(x): return a(x)\n"
    "def softmax(x): return b(x)",
    "a base that keeps": "seen = []\nclass Base:\n    def __init__(self): seen.append(1)\nclass softmax(Base): pass",
    "random numbers": "def softmax(x): return x + np.random.normal(size=x.shape)",
    "dropout": "def softmax(x): return F.dropout(x, 0.1)",
    "memory as it was found": "def softmax(x): return np.empty_like(x)",
    "a tensor not filled": "def softmax(x): return torch.Tensor(3, 3)",
    "a changed library": "np.exp = abs\ndef softmax(x): return np.exp(x)",
    "a changed library, by name": "setattr(np, 'exp', abs)\ndef softmax(x): return np.exp(x)",
    "a changed library, from a scratch function": "def patch(): np.exp = abs\ndef softmax(x): return np.exp(x)",
    "a switch": "def softmax(x):\n    torch.set_default_dtype(torch.float64)\n    return torch.ones(1)",
    "a file": "def softmax(x):\n    np.save('x.npy', x)\n    return np.load('x.npy')",
    "a library's own dictionary": "def softmax(x):\n    F.modes['n'] = 1\n    return x",
    "another library": "import time\ndef softmax(x): return x * time.time()",
    "an import inside": "def softmax(x):\n    import random\n    return x * random.random()",
    "all names of a library": "from numpy import *\ndef softmax(x): return exp(x)",
    "a way around": "def softmax(x): return exec('seen = 1') or x",
    "a way around, by attribute": "def softmax(x): return softmax.__globals__['seen']",
    "a built-in of its own": "seen = []\nlen = seen.append\ndef softmax(x): return len(x)",
    "bound by a loop": "for softmax in (abs, max): pass",
    "bound in a branch": "if True:\n    def softmax(x): return x",
    "a magic": "%matplotlib inline\ndef softmax(x): return x",
    "no Python": "def softmax(x) return x",
    "half a character": "def softmax(x): return '\ud800'\nx = '\0'",
    "deep": "def softmax(x): return " + "(" * 500 + "x" + ")" * 500,
}


@pytest.mark.parametrize("name", PLAIN)
def test_plain_code_keeps_nothing(name):
    assert is_stateless(["import numpy as np", PLAIN[name]], {"softmax"})


@pytest.mark.parametrize("name", KEEPING)
def test_what_may_keep_something_is_not_plain(name):
    assert not is_stateless(["import numpy as np", KEEPING[name]], {"softmax"})


def test_a_name_that_another_cell_binds_anew_is_not_plain():
    plain = "def softmax(x): return x"
    assert is_stateless([plain, "y = softmax(1)"], {"softmax"})
    assert not is_stateless([plain, "softmax = print"], {"softmax"})


@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda a: a.name)
def test_the_course_itself_keeps_nothing(assignment):
    """Else every submission would be asked all questions twice."""
    cells = [cell.source for cell in code_cells(read_notebook(assignment.notebook))]
    assert is_stateless(cells, {*suite_of(assignment).exercises(), *assignment.brought})

"""The arithmetic in a notebook's text, computed as it is written: `$2 \\cdot 3 / \\sqrt 4 = 3$`, `d = 512 / 8 = 64`.

In a chain of equal parts, each part without letters is computed, and neighbours must agree to the digits that the
later one is written with. Parts with letters, matrices and intervals are passed over.
"""

from __future__ import annotations

import ast
import math
import re
import warnings
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

FORMULA = re.compile(r"\$\$(.+?)\$\$|\$([^$]+)\$", re.DOTALL)
# Outside formulas: what may be arithmetic, with an equals sign in it.
PLAIN = re.compile(r"(?:[\d(][\d\s.,()+*/·−-]*=\s*)+[(]?[\d−-][\d.,]*(?:\.\d+)?")
TO_PYTHON = (
    (r"\\(?:left|right|,|;|quad|qquad|!)(?![a-z])", " "),
    (r"\\operatorname\{.*?\}|\\text\{.*?\}", "x"),
    (r"(\d)\{,\}(\d)", r"\1\2"),
    (r"(?<=\d),(?=\d{3}(?!\d))", ""),
    (r"\\[td]?frac(\d)(\d)", r"((\1)/(\2))"),
    (r"\\[td]?frac\{([^{}]*)\}\{([^{}]*)\}", r"((\1)/(\2))"),
    (r"\\sqrt\{([^{}]*)\}", r"sqrt(\1)"),
    (r"\\sqrt\s*(\d+)", r"sqrt(\1)"),
    (r"\\ln\s*(\d+)", r"log(\1)"),
    (r"\^\{([^{}]*)\}", r"**(\1)"),
    (r"\^(\d+)", r"**\1"),
    (r"(?<![a-z\d])e(?=\*\*)", str(math.e)),
    (r"(\d)\s+e(?=\*\*)|(\d)e(?=\*\*)", rf"\1\2*{math.e}"),
    (r"\\cdot|\\times|·", "*"),
    (r"−", "-"),
    (r"\\approx|\\to", "="),
)
FUNCTIONS = {"sqrt": np.sqrt, "log": np.log}
KNOWN = (ast.Expression, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Constant, ast.Tuple, ast.Load)


def unequal(text: str) -> list[str]:
    """The neighbours in chains of equations in `text` that differ, as Python."""
    return [f"{one} = {two}" for one, two in neighbours(text) if not agree(one, two)]


def neighbours(text: str) -> Iterator[tuple[str, str]]:
    """Each two parts beside an equals sign that are arithmetic, as Python."""
    formulas = [one or other for one, other in FORMULA.findall(text)]
    plain = PLAIN.findall(re.sub(r"`[^`\n]*`|\]\([^)]*\)", " ", FORMULA.sub(" ", text)))
    for chain in formulas + plain:
        for pattern, python in TO_PYTHON:
            chain = re.sub(pattern, python, chain)
        parts = [part.strip().rstrip(".,;") for part in chain.split("=")]
        yield from (pair for pair in pairwise(parts) if None not in map(_tree, pair))


def agree(one: str, two: str) -> bool:
    """Whether both are the same, up to half a unit of the last digit of `two`."""
    digits = max((len(found) for found in re.findall(r"\d\.(\d+)", two)), default=0)
    left, right = np.atleast_1d(_value(one)), np.atleast_1d(_value(two))
    within = 0.5001 * 10.0**-digits if digits else 1e-9
    return left.shape == right.shape and np.allclose(left, right, rtol=0, atol=within)


def _tree(part: str) -> ast.Expression | None:
    """The syntax tree of arithmetic; None if `part` is something else."""
    try:
        with warnings.catch_warnings(action="ignore", category=SyntaxWarning):
            tree = ast.parse(part, mode="eval")
            compile(tree, part, "eval")
    except SyntaxError:
        return None
    return tree if all(isinstance(node, KNOWN) or _is_function(node) for node in ast.walk(tree)) else None


def _is_function(node: ast.AST) -> bool:
    """Whether it is the name or the call of one of `FUNCTIONS`."""
    name = node.func if isinstance(node, ast.Call) else node
    return isinstance(name, ast.Name) and name.id in FUNCTIONS


def _value(part: str) -> np.ndarray:
    """The number or the vector that `part` is."""
    tree = ast.fix_missing_locations(_Vectors().visit(_tree(part)))
    return np.asarray(eval(compile(tree, part, "eval"), FUNCTIONS | {"vector": lambda *numbers: np.array(numbers)}))


class _Vectors(ast.NodeTransformer):
    """Makes an array of each tuple, so that it can be multiplied."""

    def visit_Tuple(self, node: ast.Tuple) -> ast.AST:
        return ast.Call(ast.Name("vector", ast.Load()), [self.visit(one) for one in node.elts], [])

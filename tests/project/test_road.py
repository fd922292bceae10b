"""The road of a mark gets no longer, and a feature touches no more modules. `tools.road` prints the numbers."""

from __future__ import annotations

import ast
import json
import subprocess
import sys

import pytest

from tests.conftest import ROOT
from tools import features

# What is reached, and the goal. A ceiling only goes down; raising one needs a reason in the commit's message.
CEILINGS = {
    "right a1, the engine: modules": (44, 38),
    "wrong a1, the engine: modules": (52, 48),
    "right a1: classes named, without loading": (117, 85),
    "right check, the engine: modules": (25, 24),
    "wrong check, the engine: modules": (32, 28),
    "modules that name ready-made": (7, 7),
    "modules that name pictures": (29, 15),
    "modules that name withdrawn": (13, 8),
    "modules that name follow-through": (10, 10),
    "modules that name the place of a mistake": (5, 6),
    "modules that name memory limits": (8, 5),
    "modules that name mentions": (2, 3),
    "modules that name fingerprints": (9, 12),
    "modules that name assert cells": (12, 13),
    "names for “it did not go on”": (10, 8),
    "lines of the engine": (25511, 20500),
    "lines of cellcage": (8449, 7300),
    "imports in the engine's code, %": (13.1, 10),
}


def over(found):
    return [f"{name}: {now} > {CEILINGS[name][0]}" for name, now in found.items() if now > CEILINGS[name][0]]


def test_features_and_lines_stay_below_their_ceilings():
    assert not over(features.counted())


@pytest.mark.slow
def test_roads_stay_below_their_ceilings():
    done = subprocess.run([sys.executable, "-m", "tools.road", "--json"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert CEILINGS.keys() <= found.keys()
    assert not over({name: found[name] for name in CEILINGS})


def test_imports_and_code_are_counted_without_docstrings():
    text = '"""Three\nlines."""\nfrom a import (\n    b,\n)\n\n\ndef f():\n    """One."""\n    return b  # this\n'
    assert features.imports_and_code(ast.parse(text)) == (3, 5)

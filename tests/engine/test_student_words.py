"""Output of `check` and `hint` besides the results of tests."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from autograder.student.check import check, examine
from autograder.student.hint import hint
from tests.conftest import ROOT


@pytest.mark.parametrize("function", [check, hint])
def test_without_an_argument_exercises_are_listed(function, capsys, monkeypatch):
    monkeypatch.chdir(ROOT / "assignments" / "a2_causal_masking")
    function()
    output = capsys.readouterr().out
    assert f'{function.__name__}("causal_mask")' in output
    assert "padding_mask, masked_softmax" in " ".join(output.split())
    assert "split_heads" not in output
    monkeypatch.chdir(Path(ROOT))
    function()
    assert "split_heads" in capsys.readouterr().out


def test_printed_output_is_shown_below_the_check_and_shortened(capsys):
    def softmax(x, axis=-1):
        print("the shape is", x.shape)
        for number in range(1000):
            print("<b>", number)
        return x

    verdict = examine("softmax", {"softmax": softmax, "np": np})
    assert capsys.readouterr().out == ""
    output = repr(verdict)
    assert output.count("the shape is (3,)") == 1
    assert "other lines" in output
    assert len(output) < 6000
    assert "&lt;b&gt; 3" in verdict._repr_html_()
    assert "printed" not in repr(examine("softmax", {"softmax": lambda x, axis=-1: x}))

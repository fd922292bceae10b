"""What a student sees in a notebook: `check` and `heatmap`."""

from __future__ import annotations

import re
import sys
import zlib

import numpy as np
import pytest
import torch

from autograder import check, heatmap
from autograder.course import content
from autograder.errors import MachineError
from autograder.explain.picture import example_in
from autograder.png import letters
from autograder.reports.heatmap import BELOW, DEEPEST, INK
from autograder.student.check import CheckFailed, examine
from autograder.testing.suite import Suite
from tests.helpers.in_process import ASSIGNMENTS, COURSE

VISIBLE = content.Visible()
EVERY = [exercise.name for assignment in ASSIGNMENTS for exercise in assignment.exercises]
PICTURES = {name: example for name in EVERY if (example := example_in(VISIBLE.picture_of(name)))}


def not_started(*args, **kwargs):
    raise NotImplementedError


def right(name):
    """The reference's names for the assignment of this exercise."""
    return dict(vars(COURSE.of_exercise(name).reference()))


def unscaled(Q, K):
    return Q @ K.swapaxes(-2, -1)


def words(text):
    """Text without line breaks, which depend on the width."""
    return " ".join(str(text).split())


@pytest.mark.parametrize("name", EVERY)
def test_reference_passes_visible_tests_of_every_exercise(name):
    verdict = examine(name, right(name))
    assert verdict.passed, verdict
    assert not verdict.result.cause
    assert len(verdict.result.tests) >= 2
    undone = examine(name, right(name) | {name: not_started})
    assert "not started yet" in repr(undone)
    assert "not started yet" in undone._repr_html_()


def test_check_of_undefined_function_says_which_cell_to_run(capsys):
    check("softmax")
    assert "Run the cell that defines `softmax` first, below the heading “1. `softmax`”" in words(
        capsys.readouterr().out
    )


def test_wrong_answer_shows_call_result_and_expected_value():
    verdict = examine("softmax", {"softmax": lambda x, axis=-1: np.exp(x)})
    assert not verdict.passed
    assert "softmax(x) with x" in repr(verdict)
    assert "came out as `[2.7183, 20.0855, 7.3891]`, wanted `[0.09, 0.6652, 0.2447]`" in words(verdict)
    assert "✗ not yet" in verdict._repr_html_()
    assert 'Stuck? `hint("softmax")`' in repr(verdict)


def test_known_mistake_is_bold_in_a_frame_above_the_table():
    page = examine("attention_scores", right("attention_scores") | {"attention_scores": unscaled})._repr_html_()
    framed = '<p style="border-left:.3em solid #c2601c;padding:.3em .8em;margin:.5em 0;font-size:1.1em">'
    start = page.index(f"{framed}<strong>Known mistake: no scaling.</strong> This mistake gives exactly your answers")
    assert start < page.index("<table")
    assert "<strong>Known" not in examine("softmax", {"softmax": lambda x, axis: undefined})._repr_html_()  # noqa: F821


def test_check_takes_a_function_and_suggests_a_name_for_a_typo(capsys):
    def softmax(x, axis=-1):
        raise NotImplementedError

    check(softmax)
    assert "softmax: not started yet" in capsys.readouterr().out
    with pytest.raises(content.UnknownExercise, match="no exercise 'sofmax'; did you mean softmax") as caught:
        check("sofmax")
    assert caught.value._render_traceback_() == ["autograder: there is no exercise 'sofmax'; did you mean softmax?"]


def test_failed_check_raises_only_in_nbgrader_validate(monkeypatch, capsys):
    check("softmax")
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    with pytest.raises(CheckFailed, match="not started yet"):
        check("softmax")


def test_message_is_escaped_as_html():
    def softmax(x, axis=-1):
        raise ValueError("<script>alert(1)</script> `<b>`")

    page = examine("softmax", {"softmax": softmax})._repr_html_()
    assert "<script>" not in page
    assert "<b>" not in page
    assert "&lt;script&gt;" in page


def test_error_shows_the_students_lines_and_none_of_ours():
    names = {"np": np}
    cell = "def helper(x):\n    return x / x.missing\n\ndef softmax(x, axis=-1):\n    return helper(x)\n"
    exec(compile(cell, "<cell>", "exec"), names)
    text = words(examine("softmax", names))
    assert "raised AttributeError: 'numpy.ndarray' object has no attribute 'missing'" in text
    assert "In softmax, line 5" in text
    assert "In helper, line 2" in text
    assert "perform" not in text


@pytest.mark.parametrize("name", ["softmax", "attention_scores"])  # the second begins with a picture
def test_stop_button_ends_the_whole_check(name):
    calls = []

    def endless(*args):
        calls.append(args)
        raise KeyboardInterrupt

    text = words(examine(name, {name: endless}))
    assert text.count("was stopped by you.") == 1
    assert "Does a loop never end, or does the code compute far more than the task needs?" in text
    assert text.count("not tried, since you stopped the check") == text.count("✗ not yet") - 1
    assert len(calls) == 1


@pytest.mark.parametrize("name", [name for name in EVERY if PICTURES.get(name) and PICTURES[name].tensors])
def test_missing_pytorch_is_one_sentence_with_the_install_command(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    for names in ({}, {name: not_started}):
        verdict = examine(name, names)
        assert words(verdict) == (
            f"{name}: PyTorch is not installed here; get it with `pip install torch`, then restart."
        )
        assert not verdict.passed
    assert examine("causal_mask", {"causal_mask": lambda length: np.tri(length, dtype=bool)}).passed


def test_suite_with_missing_package_raises_machine_error(tmp_path):
    path = tmp_path / "test_odd.py"
    path.write_text("import no_such_package\n\ndef test_nothing():\n    pass\n")
    with pytest.raises(MachineError, match="no_such_package is not installed here; get it with `pip install no_such"):
        Suite([path])


# ---------------------------------------------------------------- progress bar


def test_progress_bar_counts_exercises_that_pass_now(monkeypatch, capsys):
    monkeypatch.setattr("autograder.student.check.passed_here", set())
    names = right("split_heads") | {"check": check}
    exec('check("split_heads")', names)
    assert "1 of 5 exercises of a3, heads, pass their checks." in capsys.readouterr().out
    exec('check("concat_heads")', names)
    assert "[##########--------------]\n2 of 5" in capsys.readouterr().out
    exec('check("split_heads")', names | {"split_heads": not_started})
    assert "1 of 5" in capsys.readouterr().out
    exec('check("causal_mask")', right("causal_mask") | {"check": check})
    assert "1 of 5 exercises of a2" in capsys.readouterr().out


# ---------------------------------------------------------------- pictures of an answer


def test_missing_scaling_is_seen_in_the_picture():
    verdict = examine("attention_scores", right("attention_scores") | {"attention_scores": unscaled})
    assert "10 squares of yours differ (marked)" in words(verdict)
    yours, asked_for = verdict._repr_html_().split(">asked for<")
    assert ">4.00<" in yours
    assert yours.count("stroke-dasharray") == 10
    assert "stroke-dasharray" not in asked_for
    assert ">2.83<" in asked_for
    rows = [line.split() for line in repr(verdict).splitlines() if line.startswith("   who")]
    assert rows == [["who", "0.00", "-2.00*", "4.00*", "2.00*"], ["who", "0.00", "-1.41", "2.83", "1.41"]]


def test_mask_is_drawn_as_yes_and_no_with_its_tokens():
    page = examine("causal_mask", {"causal_mask": lambda n: np.ones((n, n), dtype=bool)})._repr_html_()
    assert page.count("stroke-dasharray") == 3
    assert "the: the yes, cat yes, sleeps yes" in page  # for screen readers
    assert "the: the yes, cat ·, sleeps ·" in page


@pytest.mark.parametrize("answer", [None, np.zeros((2, 2)), "text", np.full((3, 3), np.nan)])
def test_expected_picture_is_shown_for_any_answer(answer):
    verdict = examine("causal_mask", {"causal_mask": lambda n: answer})
    assert "asked for" in repr(verdict)
    assert ("cannot be drawn" in words(verdict)) == (np.shape(answer) != (3, 3))


# ---------------------------------------------------------------- heatmap()


def test_heatmap_as_text_and_picture():
    picture = heatmap(
        [[0.25, 0.75], [1.0, 0.0]], rows=["Money", "Bank"], columns=["Money", "Bank"], title="weights <1>"
    )
    assert "Money   0.25   0.75" in repr(picture)
    html = picture._repr_html_()
    assert html.count("<rect") == 4
    assert "weights &lt;1&gt;" in html
    heads = heatmap(torch.full((2, 3, 3), 1 / 3))
    assert repr(heads).count("head 0") == repr(heads).count("head 1") == 1  # as in every text of the course
    assert "without" in repr(heatmap(np.ones((2, 1, 1)), names=["with", "without"]))
    assert heads._repr_html_().count("<svg") == 2
    long_masks = heatmap(np.ones((3, 2, 12), dtype=bool))._repr_html_()
    assert ">yes<" not in long_masks  # small, so that they stand side by side
    mask = heatmap(np.tril(np.ones((3, 3), dtype=bool)))
    assert "yes" in repr(mask)


def test_pictures_with_the_same_full_number_share_their_colours():
    def shades(**options):
        return re.findall(r'fill-opacity="([\d.]+)"', heatmap([[[1.0, 2.0]], [[3.0, 4.0]]], **options).plain_html())

    assert shades() == ["0.38", "0.75", "0.56", "0.75"]  # otherwise each picture has its own
    assert shades(full=4) == ["0.19", "0.38", "0.56", "0.75"]


def test_png_shows_the_same_squares_as_the_svg():
    """The PNG is decoded by hand: its size, and the colour in the middle of each square."""
    png = heatmap([[1.0, -1.0, 0.0]], rows=["a"], columns=["b", "c", "d"])._repr_png_()
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = np.frombuffer(png[16:24], ">u4").tolist()
    length = int.from_bytes(png[33:37], "big")
    rows = np.frombuffer(zlib.decompress(png[41 : 41 + length]), np.uint8).reshape(height, 1 + 3 * width)
    dots = rows[:, 1:].reshape(height, width, 3)
    place = height - 8 - 10  # below the number in a square
    found = [tuple(dots[place, 20 + 64 * j + 10].tolist()) for j in range(3)]
    assert found == [(99, 146, 198), (209, 136, 85), (255, 255, 255)]  # three quarters of each colour
    assert letters("Ö·").shape == (8, 12)


@pytest.mark.parametrize("colour", [INK, BELOW])
@pytest.mark.parametrize(("theme", "text"), [((255, 255, 255), (33, 33, 33)), ((17, 17, 17), (255, 255, 255))])
def test_number_has_enough_contrast_on_the_deepest_square(colour, theme, text):
    """Contrast is at least 4.5 in JupyterLab's light and dark themes and on feedback pages (WCAG 2.1, 1.4.3)."""
    full = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    square = [DEEPEST * c + (1 - DEEPEST) * below for c, below in zip(full, theme, strict=True)]

    def light(colours):
        linear = [c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colours]
        return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))

    lower, higher = sorted((light(square), light(text)))
    assert (higher + 0.05) / (lower + 0.05) >= 4.5


@pytest.mark.parametrize(
    ("weights", "labels"),
    [(np.zeros(3), {}), (np.zeros((2, 2)), {"rows": ["a"]}), (np.zeros((2, 2, 2)), {"names": ["one"]})],
)
def test_heatmap_rejects_labels_that_do_not_fit(weights, labels):
    with pytest.raises(ValueError, match=r"heatmap draws|labels for|names for"):
        heatmap(weights, **labels)

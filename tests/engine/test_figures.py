"""What a call draws, as data, and two of these compared."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

from autograder.testing import expect
from autograder.testing.expect import Mismatch
from autograder.testing.local import answering
from autograder.testing.student import Student
from cellcage.protocol.objects import NoField

X = np.linspace(0.0, 3.0, 7)


def drawn(draw):
    """The figure of a function, as a suite gets it."""
    return Student(answering({"draw": draw}), lambda name: []).draw.figure()


def two_lines():
    plt.plot(X, X**2, label="squares")
    plt.plot(X, X**3)
    plt.legend()
    plt.title("Powers")


def histogram():
    plt.hist([1, 1, 2, 3], bins=3)
    plt.yscale("log")


def names_in_any_order():
    plt.barh(["b", "a"], [2.0, 1.0])


def scattered():
    _, (left, right) = plt.subplots(1, 2)
    left.scatter(X, X)
    right.pie([1, 3])


def other_style():
    _, axes = plt.subplots()
    axes.plot(X, X**3, "r--", linewidth=4)
    axes.plot(X, X**2, label="x²")
    axes.figure.suptitle("Other words")
    axes.legend()


def bars_from_counts():
    counts, edges = np.histogram([1, 1, 2, 3], bins=3)
    plt.bar((edges[1:] + edges[:-1]) / 2, counts, log=True)


def ticks():
    plt.bar([10, 20], [1, 2])
    plt.xticks([10, 20], ["a", "b"])


def markers():
    figure, axes = plt.subplots(ncols=2)
    axes[0].plot(X, X, "o")
    axes[1].pie([2, 6])
    return figure


@pytest.mark.parametrize(
    ("wanted", "got"),
    [(two_lines, other_style), (histogram, bars_from_counts), (names_in_any_order, ticks), (scattered, markers)],
)
def test_what_shows_the_same_is_the_same(wanted, got):
    expect.figure(drawn(got), drawn(wanted))


def without_title():
    two_lines()
    plt.title("")


def another_value():
    plt.plot(X, X**2)
    plt.plot(X, np.where(X > 2, X**3 + 0.1, X**3))


def another_length():
    plt.plot(X, X**2)
    plt.plot(X[1:], X[1:] ** 3)


WRONG = [
    (two_lines, without_title, "the figure has no title."),
    (two_lines, lambda: plt.plot(X, X**2), "the figure has 1 line, it should have 2."),
    (two_lines, another_value, "line 2 in the figure has y 15.72 at [5], which is not right."),
    (two_lines, another_length, "line 2 in the figure has 6 values, it should have 7."),
    (two_lines, scattered, "the figure has 2 plots, it should have 1."),
    (names_in_any_order, lambda: plt.bar([0, 1], [1, 2]), "the set of bars in the figure has no names below it."),
    (histogram, lambda: plt.hist([1, 1, 2, 3], bins=3), "the y axis of the figure has another scale"),
]


@pytest.mark.parametrize(("wanted", "got", "said"), WRONG)
def test_what_shows_something_else_is_told_by_its_place(wanted, got, said):
    with pytest.raises(Mismatch) as raised:
        expect.figure(drawn(got), drawn(wanted))
    assert str(raised.value).startswith(said)


def test_what_is_not_there_is_told_as_the_students():
    with pytest.raises(NoField, match="drew nothing"):
        drawn(lambda: None)
    with pytest.raises(NoField, match="has 0 lines in its figure"):
        _ = drawn(scattered).axes[0].lines[0]
    with pytest.raises(NoField, match="drew more than can be read"):
        drawn(lambda: plt.plot(np.zeros(10**6)))
    with pytest.raises(Mismatch, match="label on its x axis"):
        expect.figure(drawn(two_lines), drawn(lambda: (two_lines(), plt.xlabel("x"))))


def test_figures_that_are_open_stay_so():
    mine = plt.figure()
    try:
        drawn(two_lines)
        assert plt.gcf() is mine and len(plt.get_fignums()) == 1
    finally:
        plt.close(mine)


def test_a_figure_with_a_name_is_described():
    student = Student(answering({"axes": plt.figure().add_subplot(title="Kept")}), lambda name: [])
    plt.close("all")
    assert student.value("axes").axes[0].title == "Kept"

"""`explore` shows a slider if ipywidgets is installed, and always a series of pictures."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from autograder import explore, heatmap


def squares(d_k):
    return heatmap(np.full((1, 2), d_k), title=f"width {d_k}")


def test_series_samples_values_and_keeps_first_and_last():
    page = explore(squares, d_k=(1, 4, 16, 64, 256, 1024))._repr_html_()
    assert page.count("<svg") == 4
    assert "d_k = 1<" in page
    assert "d_k = 1024<" in page
    assert "d_k = 7\nwidth 7" in repr(explore(squares, d_k=[7]))


def test_without_ipywidgets_the_pictures_are_shown(monkeypatch):
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    shown = displayed(monkeypatch)
    explore(squares, num_heads=range(1, 4))._ipython_display_()
    assert [type(one) for one in shown] == [dict]
    assert shown[0]["text/html"].count("<svg") == 3
    assert "num_heads = 2" in shown[0]["text/plain"]


def test_slider_changes_the_picture_and_the_series_stays(monkeypatch):
    shown = displayed(monkeypatch)
    explore(squares, d_k=(1, 4, 16))._ipython_display_()
    box, series = shown
    slider, picture = box.children
    assert slider.description == "d_k"
    assert "width 4" in picture.value
    slider.value = 16
    assert "width 16" in picture.value
    assert series.data.startswith("<details>")
    assert series.data.count("<svg") == 3


def test_wrong_calls_and_unfinished_functions_raise():
    with pytest.raises(ValueError, match="one parameter with its values"):
        explore(squares)
    with pytest.raises(ValueError, match="no values"):
        explore(squares, d_k=())

    def unfinished(d_k):
        raise NotImplementedError

    with pytest.raises(NotImplementedError):
        explore(unfinished, d_k=(1, 2))


def displayed(monkeypatch):
    """A list that collects what is displayed, in a session with a kernel."""
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda value, **options: shown.append(value))
    monkeypatch.setattr("IPython.get_ipython", lambda: type("Shell", (), {"kernel": object()})())
    return shown

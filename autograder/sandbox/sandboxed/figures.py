"""A figure of matplotlib's as plain data: its axes with their words, and the numbers of what is drawn in them.

Figure   title, axes
Axes     title, xlabel, ylabel, xscale, yscale, legend (texts), texts, lines, points, bars, images, wedges (shares)
Line     label, x, y; points are of the same form, and so is a line that has markers alone
Bars     at, height, bottom, names (texts of the ticks below, if they are words), horizontal
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autograder.sandbox.protocol.objects import Form, Other, Record

MAX_AXES, MAX_DRAWN = 16, 400  # of a figure; an honest one has a dozen of both
MAX_NUMBERS = 200_000  # of all that is drawn
MAX_TEXT, MAX_TEXTS = 200, 100
WORDS = ("FixedFormatter", "StrCategoryFormatter", "FuncFormatter")  # ticks that may be words


class _TooMuch(Exception):
    pass


def drawn(run: Callable[[], Any]) -> Record | Other | None:
    """The figure that code gives back, or else has left open; None if there is none.

    Figures that were open before are not touched, and are open afterwards.
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError:  # then the code cannot draw either
        run()
        return None
    with _none_open(plt):
        figure = _figure_of(run()) or (plt.gcf() if plt.get_fignums() else None)
        return None if figure is None else described(figure)


@contextlib.contextmanager
def _none_open(plt: Any) -> Iterator[None]:
    """Meanwhile code has figures of its own, and none is shown or closed: JupyterLab closes what it shows."""
    from matplotlib._pylab_helpers import Gcf

    before, kept = dict(Gcf.figs), (plt.show, plt.close)
    Gcf.figs.clear()
    plt.show = plt.close = lambda *args, **kwargs: None
    try:
        with plt.ioff():
            yield
    finally:
        plt.show, plt.close = kept
        for manager in list(Gcf.figs.values()):
            manager.destroy()
        Gcf.figs.clear()
        Gcf.figs.update(before)


def _figure_of(value: Any) -> Any:
    """The figure that a value is, or is in: of axes, of something drawn, of the first in a list or an array."""
    matplotlib = sys.modules.get("matplotlib.figure")
    if matplotlib is None:
        return None
    if isinstance(value, tuple | list | np.ndarray) and len(value):
        return _figure_of(value[0])
    figure = value if isinstance(value, matplotlib.Figure) else getattr(value, "figure", None)
    return figure if isinstance(figure, matplotlib.Figure) else None


def as_data(value: Any) -> Any:
    """A figure, or axes, described; anything else as it is."""
    axes = sys.modules.get("matplotlib.axes")
    known = axes is not None and isinstance(value, axes.Axes | sys.modules["matplotlib.figure"].Figure)
    return described(_figure_of(value)) if known else value


def described(figure: Any) -> Record | Other:
    """A figure as data, within bounds."""
    try:
        return _Described().figure(figure)
    except _TooMuch:
        return Other("", Form.TOO_MANY)


class _Described:
    """One figure; it counts what there is."""

    def __init__(self) -> None:
        self._numbers, self._drawn = MAX_NUMBERS, MAX_DRAWN

    def figure(self, figure: Any) -> Record:
        every = [axes for axes in figure.axes if axes.get_label() != "<colorbar>"]
        if len(every) > MAX_AXES:
            raise _TooMuch
        title = figure.get_suptitle()[:MAX_TEXT]
        found = [self._axes(axes, title if len(every) == 1 else "", figure.legends) for axes in every]
        return Record("Figure", {"title": title, "axes": found})

    def _axes(self, axes: Any, title: str, legends: list[Any]) -> Record:
        own = " ".join(filter(None, (axes.get_title(place) for place in ("left", "center", "right"))))
        legends = [*filter(None, [axes.get_legend()]), *legends]
        lines = list(axes.lines)
        scattered = [one for one in axes.collections if type(one).__name__ == "PathCollection"]
        marked = [line for line in lines if line.get_linestyle() in ("None", "none", " ", "")]
        wedges = [one.theta2 - one.theta1 for one in axes.patches if type(one).__name__ == "Wedge"]
        fields = {
            "title": (own or title)[:MAX_TEXT],
            "xlabel": axes.get_xlabel()[:MAX_TEXT],
            "ylabel": axes.get_ylabel()[:MAX_TEXT],
            "xscale": axes.get_xscale(),
            "yscale": axes.get_yscale(),
            "legend": self._texts([text for legend in legends for text in legend.get_texts()]),
            "texts": self._texts(axes.texts),
            "lines": [self._line(line, *line.get_data(orig=False)) for line in lines if line not in marked],
            "points": [
                *(self._line(line, *line.get_data(orig=False)) for line in marked),
                *(self._line(one, *np.ma.getdata(one.get_offsets()).T) for one in scattered),
            ],
            "bars": [self._bars(axes, one) for one in axes.containers if type(one).__name__ == "BarContainer"],
            "images": [self._array(one.get_array()) for one in axes.images],
            "wedges": self._array(wedges) / 360,
        }
        return Record("Axes", fields)

    def _line(self, line: Any, x: Any, y: Any) -> Record:
        label = str(line.get_label())
        fields = {"label": "" if label.startswith("_") else label[:MAX_TEXT], "x": self._array(x), "y": self._array(y)}
        return Record("Line", fields)

    def _bars(self, axes: Any, bars: Any) -> Record:
        across = bars.orientation == "horizontal"
        boxes = np.array([(r.get_x(), r.get_width(), r.get_y(), r.get_height()) for r in bars]).reshape(-1, 4)
        start, width, bottom, height = boxes[:, [2, 3, 0, 1] if across else [0, 1, 2, 3]].T
        at, axis = self._array(start + width / 2), axes.yaxis if across else axes.xaxis
        names = dict[float, str]()
        if type(axis.get_major_formatter()).__name__ in WORDS:
            labels = axis.get_majorticklabels()
            places = axis.get_majorticklocs()
            names = {round(float(p), 6): t for p, t in zip(places, self._texts(labels), strict=False)}
        fields = {
            "at": at,
            "height": self._array(height),
            "bottom": self._array(bottom),
            "names": [names.get(round(float(place), 6), "") for place in at] if names else [],
            "horizontal": across,
        }
        return Record("Bars", fields)

    def _texts(self, texts: Any) -> list[str]:
        if len(texts) > MAX_TEXTS:
            raise _TooMuch
        return [text.get_text()[:MAX_TEXT] for text in texts]

    def _array(self, values: Any) -> np.ndarray:
        """Numbers, NaN where there is none."""
        array: np.ndarray = np.ma.filled(np.ma.asarray(values, dtype=float), np.nan)
        self._numbers, self._drawn = self._numbers - array.size, self._drawn - 1
        if self._numbers < 0 or self._drawn < 0:
            raise _TooMuch
        return array

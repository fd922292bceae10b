"""A matplotlib figure as plain data: its axes with their texts, and the numbers of what is drawn in them.

Figure   title, axes
Axes     title, xlabel, ylabel, xscale, yscale, legend (texts), texts, lines, points, bars, images, wedges (shares)
Line     label, x, y; points have the same form, and include lines that have only markers
Bars     at, height, bottom, names (texts of the ticks, if they are words), horizontal
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from cellcage.protocol.objects import Form, Other, Record

MAX_AXES, MAX_DRAWN = 16, 400  # axes and drawn things of a figure; an honest one has a dozen of both
MAX_NUMBERS = 200_000  # in all that is drawn
MAX_TEXT, MAX_TEXTS = 200, 100
WORDS = ("FixedFormatter", "StrCategoryFormatter", "FuncFormatter")  # formatters whose ticks may be words


class _TooMuch(Exception):
    pass


def drawn(run: Callable[[], Any]) -> Record | Other | None:
    """The figure that code returns, or else leaves open; None if there is none.

    Figures that were open before stay open and unchanged.
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError:  # then the code cannot draw either
        run()
        return None
    with _own_figures(plt):
        figure = _figure_of(run()) or (plt.gcf() if plt.get_fignums() else None)
        return None if figure is None else described(figure)


@contextlib.contextmanager
def _own_figures(plt: Any) -> Iterator[None]:
    """Within the block, no figure is open at first, and none is shown or closed: JupyterLab closes what it shows."""
    from matplotlib._pylab_helpers import Gcf

    before, functions = dict(Gcf.figs), (plt.show, plt.close)
    Gcf.figs.clear()
    plt.show = plt.close = lambda *args, **kwargs: None
    try:
        with plt.ioff():
            yield
    finally:
        plt.show, plt.close = functions
        for manager in list(Gcf.figs.values()):
            manager.destroy()
        Gcf.figs.clear()
        Gcf.figs.update(before)


def _figure_of(value: Any) -> Any:
    """The figure that a value is or belongs to; of a list or an array, that of the first item."""
    from matplotlib.figure import Figure

    if isinstance(value, tuple | list | np.ndarray) and len(value):
        return _figure_of(value[0])
    figure = value if isinstance(value, Figure) else getattr(value, "figure", None)
    return figure if isinstance(figure, Figure) else None


def as_data(value: Any) -> Any:
    """A figure, or the figure of axes, as data; anything else unchanged."""
    axes = sys.modules.get("matplotlib.axes")
    known = axes is not None and isinstance(value, axes.Axes | sys.modules["matplotlib.figure"].Figure)
    return described(_figure_of(value)) if known else value


def described(figure: Any) -> Record | Other:
    """A figure as data; an `Other` if it is too large."""
    try:
        return _Described().figure(figure)
    except _TooMuch:
        return Other("", Form.TOO_MANY)


class _Described:
    """Describes one figure, and counts its numbers and drawn things."""

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
        own_title = " ".join(filter(None, (axes.get_title(place) for place in ("left", "center", "right"))))
        legends = [*filter(None, [axes.get_legend()]), *legends]
        lines = list(axes.lines)
        scattered = [points for points in axes.collections if type(points).__name__ == "PathCollection"]
        marked = [line for line in lines if line.get_linestyle() in ("None", "none", " ", "")]
        wedges = [patch.theta2 - patch.theta1 for patch in axes.patches if type(patch).__name__ == "Wedge"]
        fields = {
            "title": (own_title or title)[:MAX_TEXT],
            "xlabel": axes.get_xlabel()[:MAX_TEXT],
            "ylabel": axes.get_ylabel()[:MAX_TEXT],
            "xscale": axes.get_xscale(),
            "yscale": axes.get_yscale(),
            "legend": self._texts([text for legend in legends for text in legend.get_texts()]),
            "texts": self._texts(axes.texts),
            "lines": [self._line(line, *line.get_data(orig=False)) for line in lines if line not in marked],
            "points": [
                *(self._line(line, *line.get_data(orig=False)) for line in marked),
                *(self._line(points, *np.ma.getdata(points.get_offsets()).T) for points in scattered),
            ],
            "bars": [self._bars(axes, bars) for bars in axes.containers if type(bars).__name__ == "BarContainer"],
            "images": [self._array(image.get_array()) for image in axes.images],
            "wedges": self._array(wedges) / 360,
        }
        return Record("Axes", fields)

    def _line(self, line: Any, x: Any, y: Any) -> Record:
        label = str(line.get_label())
        fields = {"label": "" if label.startswith("_") else label[:MAX_TEXT], "x": self._array(x), "y": self._array(y)}
        return Record("Line", fields)

    def _bars(self, axes: Any, bars: Any) -> Record:
        is_horizontal = bars.orientation == "horizontal"
        boxes = np.array([(r.get_x(), r.get_width(), r.get_y(), r.get_height()) for r in bars]).reshape(-1, 4)
        start, width, bottom, height = boxes[:, [2, 3, 0, 1] if is_horizontal else [0, 1, 2, 3]].T
        at, axis = self._array(start + width / 2), axes.yaxis if is_horizontal else axes.xaxis
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
            "horizontal": is_horizontal,
        }
        return Record("Bars", fields)

    def _texts(self, texts: Any) -> list[str]:
        if len(texts) > MAX_TEXTS:
            raise _TooMuch
        return [text.get_text()[:MAX_TEXT] for text in texts]

    def _array(self, values: Any) -> np.ndarray:
        """Numbers, NaN for a missing one."""
        array: np.ndarray = np.ma.filled(np.ma.asarray(values, dtype=float), np.nan)
        self._numbers, self._drawn = self._numbers - array.size, self._drawn - 1
        if self._numbers < 0 or self._drawn < 0:
            raise _TooMuch
        return array

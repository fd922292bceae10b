"""`explore(draw, width=(4, 16, 64))`: one picture for each value of a parameter, and a slider to choose one.

The slider needs ipywidgets. Without it, and on a page that no kernel runs, the pictures are shown in a row.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

FEW = 4  # pictures in the row


def explore(draw: Callable[[Any], Any], **values: Sequence[Any]) -> Exploration:
    """A slider over the values of one parameter.

    explore(draw, width=(4, 16, 64))

    draw: `draw(value)` gives the picture, such as a `heatmap`

    Raises `ValueError` where there is not exactly one parameter with a value or more.
    """
    __tracebackhide__ = True  # if `draw` fails, IPython shows the student's lines and not these
    if len(values) != 1:
        raise ValueError(f"explore takes one parameter with its values, such as width=(4, 16, 64), not {len(values)}")
    ((name, chosen),) = values.items()
    if not len(chosen):
        raise ValueError(f"{name} has no values to show")
    return Exploration(draw, name, list(chosen))


class Exploration:
    """The result of `explore`: a slider with a picture, or a few pictures in a row."""

    def __init__(self, draw: Callable[[Any], Any], name: str, values: list[Any]) -> None:
        __tracebackhide__ = True
        self.draw = functools.cache(draw)
        self.name, self.values = name, values
        self.draw(values[0])  # an error in `draw` appears now, not when the slider moves

    def __repr__(self) -> str:
        return "\n\n".join(f"{self.name} = {value}\n{self.draw(value)!r}" for value in self._series())

    def _repr_html_(self) -> str:
        parts = (f"<div>{escape(f'{self.name} = {value}')}</div>{self._one(value)}" for value in self._series())
        return "".join(f'<div style="margin:.6em 0">{part}</div>' for part in parts)

    def _ipython_display_(self) -> None:
        from IPython.display import HTML, display

        slider = in_notebook(self._slider, "A slider: run this cell to move it.")
        if slider is None:
            display({"text/plain": repr(self), "text/html": self._repr_html_()}, raw=True)  # type: ignore[no-untyped-call]
            return
        display(slider)  # type: ignore[no-untyped-call]
        # A slider's picture is lost with the kernel. The pictures in a row stay in the file.
        series = f"<details><summary>Without a slider: a series of pictures</summary>{self._repr_html_()}</details>"
        display(HTML(series))  # type: ignore[no-untyped-call]

    def _slider(self, widgets: Any) -> list[Any]:
        """The slider with its picture below."""
        mid = self.values[len(self.values) // 2]
        picture = widgets.HTML(self._one(mid))
        slider = widgets.SelectionSlider(options=self.values, value=mid, description=self.name, layout={"width": "4in"})
        slider.observe(lambda change: setattr(picture, "value", self._one(change.new)), "value")
        return [slider, picture]

    def _series(self) -> list[Any]:
        """A few of the values, including the first and the last."""
        last, parts = len(self.values) - 1, min(FEW, len(self.values)) - 1
        places = {round(i * last / parts) for i in range(parts + 1)} if parts else {0}
        return [self.values[place] for place in sorted(places)]

    def _one(self, value: Any) -> str:
        drawn = self.draw(value)
        return drawn._repr_html_() if hasattr(drawn, "_repr_html_") else f"<pre>{escape(str(drawn))}</pre>"


def in_notebook(make: Callable[[Any], Sequence[Any]], saved: str) -> Any:
    """What `make(ipywidgets)` gives, or None where nothing can show it. A file without a kernel shows `saved`."""
    from IPython import get_ipython

    if not hasattr(get_ipython(), "kernel"):  # type: ignore[no-untyped-call]
        return None
    try:
        import ipywidgets
    except ImportError:
        return None
    return type("Box", (ipywidgets.VBox,), {"__repr__": lambda self: saved})(make(ipywidgets))

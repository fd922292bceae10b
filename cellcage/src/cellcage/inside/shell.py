"""How a notebook's cells and test cells run: in a shell that is made before any notebook comes.

Pictures and tables that a cell shows, beside its text, are bytes of untrusted code. The other side checks their sizes,
and cleans the HTML.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import functools
import gc
import importlib
import inspect
import io
import os
import random
import re
import sys
import time
import traceback
from collections.abc import Callable, Collection, Iterator, Mapping
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import quote

import numpy as np

from cellcage.calling.around_call import Bounded
from cellcage.files import module_name, put, top
from cellcage.protocol.messages import Setting

TEST_CELL = "<test cell>"  # file name of its code; its text is not stored, so that no later cell can find it
AWAITS = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
# As a command, and as `%pip` writes it. It would try to reach the network for seconds, which a time limit counts.
_INSTALLS = re.compile(r"\s*(?:sudo )?(?:\S*python\S* -m )?(?:pip3?|conda|mamba|uv|apt|apt-get)\b")
TICK_SECONDS = 0.01  # between two times of a file's change that the kernel tells apart
PICTURE, TABLE = "image/png", "text/html"
MOST = 4  # of one cell
LARGEST = 300_000  # bytes of one; a figure has some 20 kB
DPI = 72
Shown = list[tuple[str, bytes]]
SHOWN = 100  # characters of a test cell's last value; a number takes a few


def prepared_shell(setting: Setting) -> Any:
    """Import once what every notebook needs, and make the shell that its cells will run in."""
    shell = _quiet_shell()
    names = dict[str, ModuleType]()
    for name, module in setting.names.items():
        with contextlib.suppress(ImportError):
            names[name] = importlib.import_module(module)
    if torch := sys.modules.get("torch"):
        # There is no compiler in the sandbox.
        vars(torch)["compile"], torch.nn.Module.compile = _run_eagerly, _do_not_compile
    with contextlib.suppress(ImportError):  # Python may have been built without it
        sqlite3 = importlib.import_module("sqlite3")
        vars(sqlite3)["connect"] = vars(sqlite3.dbapi2)["connect"] = _without_locks(sqlite3.connect)
    shell.user_ns.update(names)
    shell.run_cell("None", store_history=False)  # loads what IPython loads late
    _seed_all(0)  # every fork starts from the same random state, so the same notebook gives the same answers
    gc.collect()
    gc.freeze()
    return shell


def _seed_all(seed: int) -> None:
    """From now on, all random numbers in this process follow from `seed`: of Python, NumPy and PyTorch.

    This includes generators that are created without a seed, such as `np.random.default_rng()`, `random.Random()` and
    `random.SystemRandom()`. Untrusted code can still take randomness from the clock, or read it from the machine.
    """
    python: Any = random
    seed_one, stream = random.Random.seed, random.Random(seed)  # noqa: S311

    def seeded_again(self: random.Random, a: Any = None, version: int = 2) -> None:
        seed_one(self, stream.getrandbits(64) if a is None else a, version)

    seed_one(python._inst, seed)
    # The sources of `SystemRandom`, `secrets` and NumPy's unseeded generators, and of Python's unseeded ones.
    python._urandom, python.Random.seed = stream.randbytes, seeded_again
    python.seed = python._inst.seed
    np.random.seed(seed)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed)


def _run_eagerly(model: Any = None, **options: Any) -> Any:
    """`torch.compile`, also as a decorator with or without options: the model as it is."""
    return model if model is not None else lambda decorated: decorated


def _do_not_compile(module: Any, *args: Any, **kwargs: Any) -> None:
    """`Module.compile`: the module stays as it is."""


def _without_locks(connect: Callable[..., Any]) -> Callable[..., Any]:
    """`sqlite3.connect` without locks on files, which the sandbox refuses. Nobody else has these files open."""

    @functools.wraps(connect)
    def connected(database: Any, *args: Any, **kwargs: Any) -> Any:
        path = os.fsdecode(database)
        if path in ("", ":memory:"):
            return connect(database, *args, **kwargs)
        if not (kwargs.get("uri") and path.startswith("file:")):
            path = f"file:{quote(path)}"
        return connect(f"{path}{'&' if '?' in path else '?'}nolock=1", *args, **kwargs | {"uri": True})

    return connected


def run_cell(shell: Any, source: str) -> None:
    """Run a cell as a notebook would. Raises its exception.

    Plain Python is compiled as a whole, in a third of the time that IPython takes for single statements. IPython
    runs the rest: magics, `await`, text that is not Python, and all cells after `%load_ext autoreload`, which looks at
    the times of files before each.
    """
    if shell.events.callbacks["pre_run_cell"]:
        time.sleep(TICK_SECONDS)
        _run_by_ipython(shell, source)
        return
    name = shell.compile.cache(source, shell.execution_count, source)
    try:
        tree = shell.compile.ast_parse(source, name)
        shown = tree.body.pop() if _shows_last(tree, source) else None
        parts = [(shell.compile(tree, name, "exec"), tree.body)]
        parts += [(shell.compile(ast.Interactive([shown]), name, "single"), [shown])] if shown else []
    except Exception:
        _run_by_ipython(shell, source)
        return
    with shell.builtin_trap, shell.display_trap:
        for code, body in parts:
            if body:
                exec(code, shell.user_ns)  # noqa: S102


def _run_by_ipython(shell: Any, source: str) -> None:
    result = shell.run_cell(_ABOVE_MAGIC.sub(_blank, source), store_history=False)
    if error := result.error_before_exec or result.error_in_exec:
        raise error from None


# Colab puts the title of a form there, as a comment, and runs the cell; IPython wants a cell's magic in its first line.
_ABOVE_MAGIC = re.compile(r"\A(?:[ \t]*(?:#[^\n]*)?\n)+(?=%%)")


def _blank(lines: re.Match[str]) -> str:
    return "\n" * lines[0].count("\n")


def parsed_test(shell: Any, source: str) -> ast.Module:
    """The tree of a test cell. Raises `SyntaxError`."""
    try:
        return _parsed(source)
    except SyntaxError:
        return _parsed(shell.transform_cell(source))  # it has magics


def run_test(shell: Any, source: str, tree: ast.Module) -> tuple[str, bool]:
    """Run a test cell in the notebook's names, without its output. Raises its exception.

    Returns its last value as a notebook shows it, and whether it wrote to standard error.
    """
    tree = ast.Module([*tree.body], tree.type_ignores)
    last: Any = tree.body.pop() if _shows_last(tree, source) else None
    text, errors = "", Bounded(1)
    with shell.builtin_trap, contextlib.redirect_stderr(errors), contextlib.redirect_stdout(Bounded(0)):
        _finished(eval(compile(tree, TEST_CELL, "exec", AWAITS, dont_inherit=True), shell.user_ns))  # noqa: S307
        code = compile(ast.Expression(last.value), TEST_CELL, "eval", AWAITS, dont_inherit=True) if last else None
        value = _finished(eval(code, shell.user_ns)) if code else None  # noqa: S307
        if value is not None:
            text = str(shell.display_formatter.formatters["text/plain"](value))[:SHOWN]
    return text, errors.left < errors.size


def _parsed(source: str) -> ast.Module:
    """The tree of a cell, which may use `await` outside functions."""
    tree: ast.Module = compile(source, TEST_CELL, "exec", AWAITS | ast.PyCF_ONLY_AST, dont_inherit=True)
    return tree


def _finished(value: Any) -> Any:
    """What the code gave; if it awaits something, what that ends in."""
    if not inspect.iscoroutine(value):
        return value
    return asyncio.run(value)


def line_of(error: BaseException | None) -> int:
    """The first line of a test cell in an exception's traceback; 0 if there is none."""
    frames = traceback.walk_tb(error.__traceback__ if error is not None else None)
    return next((number for frame, number in frames if frame.f_code.co_filename == TEST_CELL), 0)


def import_from_folder() -> None:
    """Let cells import modules from the current folder, also those that they write there.

    In a kernel the folder comes before installed packages, here after them: a notebook that comes with a `torch.py`
    must not change what libraries import.
    """
    sys.path_hooks.insert(0, functools.partial(_finder, str(Path.cwd())))
    sys.path.append("")


def _finder(folder: str, path: str) -> _FreshFinder:
    """A finder for modules at `path`, as an entry of `sys.path_hooks`. Only for `folder`, and folders in it."""
    if not Path(path).absolute().is_relative_to(folder):
        raise ImportError
    return _FreshFinder(path, (SourceFileLoader, SOURCE_SUFFIXES))


class _FreshFinder(FileFinder):
    """Python's own lists a folder again only if its time has changed: cells may write two files in one tick of it."""

    def find_spec(self, fullname: str, target: ModuleType | None = None) -> ModuleSpec | None:
        self.invalidate_caches()
        return super().find_spec(fullname, target)


class _FirstOfAll:
    """Finds these modules in a folder, before those of the same name elsewhere."""

    def __init__(self, names: Collection[str], folder: str) -> None:
        self._names, self._folder = names, folder

    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        return PathFinder.find_spec(name, [self._folder], target) if name in self._names else None


def write_files(files: Mapping[str, bytes], own: Mapping[str, bytes]) -> None:
    """Write files into the current folder. Modules among them can be imported.

    files: cells cannot change them; a module in them comes before all others of its name
    own: the notebook's own, which cells can change; see `import_from_folder`. One in the place of a file or a module
        among `files` is left out
    """
    names = {module_name(place) for place in files if place.endswith(".py")}
    own = {place: data for place, data in own.items() if module_name(place) not in names and top(place) not in files}
    put(own, Path.cwd(), 0o644)
    put(files, Path.cwd())
    if names:
        sys.meta_path.insert(0, _FirstOfAll(names, str(Path.cwd())))


def _shows_last(tree: ast.Module, source: str) -> bool:
    """Whether a notebook shows the value of a cell's last statement."""
    return bool(tree.body) and isinstance(tree.body[-1], ast.Expr) and not source.rstrip().endswith(";")


def _quiet_shell() -> Any:
    """An IPython shell that does not print errors, and prints results without prompts."""
    from IPython.core.displayhook import DisplayHook
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    class PlainDisplayHook(DisplayHook):  # type: ignore[misc]
        rich: Any = None  # collects pictures and tables, see `collected`

        def write_output_prompt(self) -> None:
            """No `Out[3]:` before a result."""

        def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
            """Print a result, unless it is collected."""
            if self.rich is None or not self.rich.take(format_dict):
                super().write_format_data({"text/plain": format_dict["text/plain"]}, md_dict)

    class QuietShell(InteractiveShell):  # type: ignore[misc]
        displayhook_class = PlainDisplayHook

        def showtraceback(self, *args: Any, **kwargs: Any) -> None:
            """The caller reports the error."""

        showsyntaxerror = showindentationerror = showtraceback

        def enable_matplotlib(self, gui: Any = None) -> tuple[str, str]:
            """`%matplotlib inline` has no effect: figures are drawn in memory and never shown."""
            return "agg", "agg"

        def system(self, cmd: str) -> None:
            """`!ls`, through a pipe, since there is no terminal here."""
            if _INSTALLS.match(cmd):
                print(f"not run, since there is no network here: {cmd}")
            else:
                print(self.getoutput(cmd, split=False, depth=1))

    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    return QuietShell(config=config)


def stand_in(name: str, values: Mapping[str, object]) -> ModuleType:
    """A package whose functions do nothing in the sandbox, with these values of its other names."""
    module = ModuleType(name)
    vars(module).update(values)
    module.__getattr__ = _do_nothing  # type: ignore[method-assign]
    return module


def _do_nothing(name: str) -> Any:
    if name.startswith("__"):  # libraries look at `__file__` and the like of every module
        raise AttributeError(name)
    return lambda *args, **kwargs: None


# ---------------------------------------------------------------- pictures and tables


class RichOutput:
    """Collects what the present cell shows. found: each with its kind, a MIME type"""

    def __init__(self) -> None:
        self.found: Shown = []

    def take(self, forms: Mapping[str, Any]) -> bool:
        """Keep the picture, or the HTML, among the forms of a value. False if it has neither."""
        for kind in (PICTURE, TABLE):
            form = forms.get(kind)
            if isinstance(form, str | bytes):
                self._keep(kind, form.encode() if isinstance(form, str) else form)
                return True
        return False

    def publish(self, data: Mapping[str, Any], metadata: Any = None, **more: Any) -> None:
        """What `display` calls."""
        if not self.take(data):
            print(data.get("text/plain", ""))

    def take_open_figures(self) -> None:
        """Keep and close the figures that are still open, as a notebook does after each cell."""
        if plt := sys.modules.get("matplotlib.pyplot"):
            for number in plt.get_fignums():
                self._keep(PICTURE, _png(plt.figure(number)))
            plt.close("all")

    def _keep(self, kind: str, form: bytes) -> None:
        if (kind, form) not in self.found and len(self.found) < MOST and len(form) <= LARGEST:
            self.found.append((kind, form))


def _png(figure: Any) -> bytes:
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=DPI, bbox_inches="tight")
    return file.getvalue()


@contextlib.contextmanager
def collected(shell: Any) -> Iterator[RichOutput]:
    """Collect what code in the block shows."""
    from IPython.core.interactiveshell import InteractiveShell

    rich, formatter = RichOutput(), shell.display_formatter
    types, formatter.active_types = formatter.active_types, [*formatter.active_types, PICTURE, TABLE]
    formatter.formatters[PICTURE].for_type_by_name("matplotlib.figure", "Figure", _png)
    shell.displayhook.rich, publish = rich, shell.display_pub.publish
    shell.display_pub.publish = rich.publish
    instance, InteractiveShell._instance = InteractiveShell._instance, shell  # `display` looks for it there
    try:
        yield rich
        rich.take_open_figures()
    finally:
        shell.displayhook.rich, shell.display_pub.publish = None, publish
        formatter.active_types, InteractiveShell._instance = types, instance

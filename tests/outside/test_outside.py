"""Other people's tests of the same subject, on our solutions. Their files are not kept here.

Clone what you want to run side by side into one folder, and name it (see `tests/README.md`):

    OUTSIDE_TESTS=~/outside python -m pytest tests/outside

What is not there is skipped. Their tests run as they are, by adapters in our own words; of each, those are taken that
ask for something that an exercise is about.
"""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.outside import deep_ml, leetgpu, torchcode

OURS = Path(__file__).parent
FOLDER = Path(os.environ.get("OUTSIDE_TESTS", ""))
pytestmark = pytest.mark.slow


def clone(name: str) -> Path:
    """The folder of a clone; skips if nobody has fetched it."""
    if not os.environ.get("OUTSIDE_TESTS") or not (FOLDER / name).is_dir():
        pytest.skip(f"no clone of {name} in OUTSIDE_TESTS")
    return FOLDER / name


def copied(name: str, folder: Path, part: str) -> Path:
    """A part of a clone in a folder that may be written to."""
    shutil.copytree(clone(name) / part, folder / "theirs" / part)
    return folder / "theirs"


def with_ours(theirs: Path, folder: Path, *asked: str) -> int:
    """How many of their tests pass, where `outside` is this folder. None fails; some are skipped."""
    (folder / "ours").mkdir()
    (folder / "ours" / "outside").symlink_to(OURS)
    path = os.pathsep.join([str(folder / "ours"), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "--rootdir", ".", *asked]
    done = subprocess.run(command, cwd=theirs, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    return int(re.findall(r"(\d+) passed", done.stdout)[-1])


def test_cs336(tmp_path):
    pytest.importorskip("einops", reason="CS336's tests need einops")
    pytest.importorskip("jaxtyping", reason="CS336's tests need jaxtyping")
    theirs = copied("assignment1-basics", tmp_path, "tests")
    shutil.copy(OURS / "cs336.py", theirs / "tests" / "adapters.py")
    asked = ["tests/test_model.py", "tests/test_nn_utils.py"]
    if not (theirs / "tests" / "fixtures" / "ts_tests" / "model.pt").exists():  # some copies leave out large files
        asked += ["-k", "(rope or softmax or cross_entropy or scaled) and not with_rope"]
    assert with_ours(theirs, tmp_path, *asked) >= 5


def test_tinytorch(tmp_path):
    theirs = copied("TinyTorch", tmp_path, "tests/12_attention")
    (theirs / "conftest.py").write_text("import sys\nfrom outside.tinytorch import modules\nsys.modules |= modules()\n")
    assert with_ours(theirs, tmp_path, "tests/12_attention/test_attention_core.py") >= 9


@pytest.mark.filterwarnings("ignore:overflow")  # exp of 100, in float32
@pytest.mark.parametrize("challenge", leetgpu.CHALLENGES)
def test_leetgpu(challenge, monkeypatch):
    folder = clone("leetgpu-challenges") / "challenges"
    monkeypatch.syspath_prepend(str(folder))
    theirs = runpy.run_path(str(folder / challenge / "challenge.py"))["Challenge"](device="cpu")
    torch.manual_seed(0)
    for asked in theirs.generate_functional_test():
        theirs.reference_impl(**asked)
        wanted = asked.pop("output" if "output" in asked else "loss")
        torch.testing.assert_close(leetgpu.CHALLENGES[challenge](**asked), wanted, rtol=theirs.rtol, atol=theirs.atol)


@pytest.mark.parametrize("question", deep_ml.QUESTIONS)
def test_deep_ml(question, capsys):
    (folder,) = (clone("DML-OpenProblem") / "questions").glob(f"{question}_*")
    for asked in json.loads((folder / "tests.json").read_text()):
        exec(asked["test"], dict(deep_ml.NAMES))
        printed, wanted = (_numbers(text) for text in (capsys.readouterr().out, asked["expected_output"]))
        np.testing.assert_allclose(printed, wanted, rtol=1e-3, atol=1e-3)


def _numbers(text: str) -> list[float]:
    return [float(one) for one in re.findall(r"-?\d+\.?\d*(?:e[+-]?\d+)?", text)]


@pytest.mark.parametrize("task", torchcode.TASKS)
def test_torchcode(task):
    theirs = runpy.run_path(str(clone("TorchCode") / "torch_judge" / "tasks" / f"{task}.py"))["TASK"]
    name = theirs["function_name"]
    for asked in theirs["tests"]:
        if task in torchcode.IN_NUMPY and "gradient" in asked["name"].lower():
            continue
        exec(asked["code"].replace("{fn}", name), {name: torchcode.TASKS[task]})

"""nbgrader's zip_collect on what Canvas and Moodle give to download."""

from __future__ import annotations

import shutil
import subprocess
import zipfile

import pytest

from autograder.nbgrader.collectors import Canvas, Moodle
from tests.conftest import ROOT, copy_course

A1 = "a1_scaled_dot_product"
RELEASED = ROOT / "assignments" / A1 / "scaled_dot_product.ipynb"
CANVAS = {
    "doejane_4321_98765_scaled_dot_product.ipynb": "doejane_4321",
    "mullerzoe_LATE_17_98770_scaled_dot_product-1.ipynb": "mullerzoe_17",
    "doejane_4400_98771_scaled_dot_product (2).ipynb": "doejane_4400",
}
MOODLE = {
    "Jane Doe_123456_assignsubmission_file/scaled_dot_product.ipynb": "Jane Doe",
    "Zoë Müller-Łoś_123457_assignsubmission_file_/scaled_dot_product.ipynb": "Zoë Müller-Łoś",
    "Ada L_123458_assignsubmission_file_scaled_dot_product.ipynb": "Ada L",
}


def model_of(notebook):
    """The name of a saved model that was handed in beside it."""
    return notebook.replace("scaled_dot_product", "model").replace(" (2)", "").replace(".ipynb", ".safetensors")


@pytest.mark.parametrize(("collector", "names"), [(Canvas, CANVAS), (Moodle, MOODLE)])
def test_names_are_read(collector, names):
    for name, student in names.items():
        found = collector().collect(f"/downloaded/{A1}/extracted/submissions/{name}")
        assert found == {"student_id": student, "file_id": "scaled_dot_product"}
        model = model_of(name)
        assert collector().collect(f"/downloaded/{model}") == {"student_id": student, "file_id": "model"}
    assert collector().collect("/downloaded/notes.txt") is None
    assert collector().collect("/downloaded/scaled_dot_product.ipynb") is None


@pytest.mark.slow
@pytest.mark.parametrize(("collector", "names"), [("Canvas", CANVAS), ("Moodle", MOODLE)])
def test_a_zip_from_the_system_is_collected(tmp_path, collector, names):
    course = copy_course(tmp_path / "course")
    shutil.copytree(ROOT / "assignments", course.root / "assignments")
    archive = course.root / "downloaded" / A1 / "archive"
    archive.mkdir(parents=True)
    with zipfile.ZipFile(archive / "submissions.zip", "w") as download:
        for name in names:
            download.write(RELEASED, name)
            download.writestr(model_of(name), "numbers")
    command = ["nbgrader", "zip_collect", A1, f"--collector=autograder.nbgrader.collectors.{collector}"]
    done = subprocess.run(command, cwd=course.root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = {path.relative_to(course.root / "submitted") for path in (course.root / "submitted").rglob("*.ipynb")}
    assert {str(path) for path in found} == {f"{student}/{A1}/scaled_dot_product.ipynb" for student in names.values()}
    models = {path.parents[1].name for path in course.root.glob(f"submitted/*/{A1}/model.safetensors")}
    assert models == set(names.values())

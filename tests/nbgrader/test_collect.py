"""nbgrader's zip_collect on downloads from Canvas and Moodle, and on malicious submissions.

Names are as in `lib/content_zipper.rb` of https://github.com/instructure/canvas-lms, and in
`mod/assign/classes/downloader.php` of https://github.com/moodle/moodle.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import stat
import unicodedata
import zipfile

import pytest

from autograder.authoring.sample_class import fill
from autograder.systems import unpack
from autograder.systems.moodle import Moodle
from tests.helpers.downloads import AsTheFinder, archive_of, collect, download, files_collected, packed, repacked
from tests.helpers.small_course import (
    EXERCISE,
    NAME,
    NOTEBOOK,
    WRONG,
    book_of,
    nbgrader,
    released,
    reports_of,
    said_by,
    submit,
)

JANE, ADA = "Jane Doe_123_assignsubmission_file", "Ada L_124_assignsubmission_file"


def lines_with(left, name):
    """The lines that name a student or a file."""
    return [line for line in left if name in line]


@pytest.mark.slow
def test_python_files_that_a_notebook_imports_come_along(course):
    work = json.dumps(fill(released(course), {EXERCISE: f"from helper import {EXERCISE}"}))
    helper, newer = f"from lib.means import {EXERCISE}", f"from means import {EXERCISE}"
    means = f"def {EXERCISE}(X):\n    return X - X.mean(axis=-1, keepdims=True)"
    inside = {NOTEBOOK: work, "helper.py": helper, "lib/means.py": means, "notes.pdf": "x", "a b.py": "x"}
    download(course, {f"{JANE}/inner/{name}": text for name, text in inside.items()} | {f"{JANE}/helper.py": "1 / 0"})
    log, _ = collect(course, "Moodle")
    assert files_collected(course) == {"Jane Doe": [NOTEBOOK, "helper.py", "lib"]}
    assert "notes.pdf" in log.partition("handed in beside a notebook and not collected")[2]
    assert reports_of(course)["Jane Doe"]["score"] == 3
    shutil.rmtree(course.root / "downloaded")
    files = [(NOTEBOOK, work), ("helper.py", helper), ("helper-1.py", newer), ("means.py", means)]
    download(course, {f"doejane_4321_{9 + number}_{name}": text for number, (name, text) in enumerate(files)})
    collect(course, "Canvas")
    assert files_collected(course)["doejane_4321"] == [NOTEBOOK, "helper.py", "means.py"]
    assert reports_of(course)["doejane_4321"]["score"] == 3


# ---------------------------------------------------------------- file names


PEOPLE = ("Zoë Ünal", "Søren Kjær", "Łukasz Żak", "王 小明", "Ada Lovelace")


def moodle_names(between="/"):
    return [f"{name}_{900 + number}_assignsubmission_file{between}{NOTEBOOK}" for number, name in enumerate(PEOPLE)]


@pytest.mark.parametrize("packing", ["the Finder", "a folder that macOS unpacked", "backslashes"])
def test_archive_from_another_system_keeps_names(course, packing):
    work, archive = released(course).read_text(), archive_of(course)
    if packing == "the Finder":
        entries = {f"submissions/{name}": work for name in moodle_names()}
        entries |= {"__MACOSX/submissions/._Ada Lovelace_904_assignsubmission_file": "x", "submissions/.DS_Store": "x"}
        (archive / "submissions.zip").write_bytes(repacked(entries, AsTheFinder))
    elif packing == "backslashes":
        entries = {"Eve_1_assignsubmission_file\\": ""} | dict.fromkeys(moodle_names("\\"), work)
        (archive / "submissions.zip").write_bytes(repacked(entries))
    else:
        for name in moodle_names():
            path = archive / unicodedata.normalize("NFD", name)
            path.parent.mkdir()
            path.write_text(work)
    collect(course, "Moodle")
    assert files_collected(course).keys() == set(PEOPLE)


def test_name_in_an_unknown_encoding_is_reported(course):
    class AsOldWindows(AsTheFinder):
        def _encodeFilenameFlags(self):
            return self.filename.encode("cp850"), self.flag_bits

    names = [name for name in moodle_names() if name.startswith(("Søren", "Ada"))]
    packed_again = repacked(dict.fromkeys(names, released(course).read_text()), AsOldWindows)
    (archive_of(course) / "submissions.zip").write_bytes(packed_again)
    _, left = collect(course, "Moodle", code=1)
    assert files_collected(course).keys() == {"Ada Lovelace"}
    assert lines_with(left, "a name in an unknown encoding; unpack the zip yourself, and put the folder into archive/")


def test_underscores_in_canvas_names_do_not_mix_up_students(course):
    work = released(course).read_text()
    names = {f"{name}{NOTEBOOK}": work for name in ("j_smith_4331_98776_", "smithjohn_22_98001_", "x_LATE_5_6_")}
    odd = f"jdoe_22_4326_98770_{NOTEBOOK}"
    download(course, names | {odd: work})
    _, left = collect(course, "Canvas", code=1)
    assert files_collected(course).keys() == {"j_smith_4331", "smithjohn_22", "x_5"}
    (line,) = lines_with(left, odd)
    assert "may be of jdoe_22 or of jdoe_22_4326; enter a roster that has the right one as id" in line

    # Canvas's own export, in which `Zed` has handed in nothing
    people = ('"Doe 22, Jo",4326', '"Smith, J",4331', "John,22", "Zed,5000")
    (course.root / "class.csv").write_text("\n".join(("Student,ID", "    Points Possible,", *people)))
    output = said_by(course, "roster", "class.csv")
    assert "so the id is the number for now: 4326, 5000" in output
    assert "nobody's in the roster: x_5" in output
    output, _ = collect(course, "Canvas")
    with book_of(course) as book:
        assert {one.id for one in book.students} == {"j_smith_4331", "smithjohn_22", "jdoe_22_4326", "5000"}
        assert book.find_student("jdoe_22_4326").first_name == "Jo"
    nbgrader(course, "export", "--exporter=autograder.nbgrader.gradebook_export.Exercises", "--to=rows.csv")
    assert [line for line in (course.root / "rows.csv").read_text().splitlines() if line.startswith("5000,")]
    assert files_collected(course).keys() == {"j_smith_4331", "smithjohn_22", "x_5", "jdoe_22_4326"}
    assert "has nobody with these ids; correct wrong names in archive/, or the roster: x_5" in output
    said_by(course, "return", NAME, "--to", "canvas", "--marks", "m.csv", code=1)  # nobody is graded yet
    rows = {row["Student"]: row["ID"] for row in csv.DictReader((course.root / "m.csv").read_text().splitlines())}
    assert rows == {"Doe 22, Jo": "4326", "Smith, J": "4331", "John": "22"}


def test_two_students_with_one_number_are_not_exported(course):
    work = released(course).read_text()
    download(course, {f"doejane_4321_98765_{NOTEBOOK}": work, f"smithjane_4321_98799_{NOTEBOOK}": work})
    collect(course, "Canvas")
    words = ("return", NAME, "--to", "canvas", "--marks", "m.csv", "--feedback", "p.zip")
    output = said_by(course, *words, code=2)
    assert "doejane_4321 and smithjane_4321 would both go back as number 4321, so nothing is written" in output
    assert not (course.root / "m.csv").exists()
    assert not (course.root / "p.zip").exists()


# ---------------------------------------------------------------- submissions with another student's name


def files_of(student):
    """Files with another student's name: in a folder, in a zip, in a zip within a zip."""
    inner = {f"{student}/mine.ipynb": "{}", f"{student}/{NOTEBOOK}": "{}"}
    return {"work.zip": packed(inner), "more.zip": packed({"inner.zip": packed(inner)})} | inner


@pytest.mark.slow
def test_moodle_submission_with_another_students_name_is_not_mixed_up(course):
    """Jane hands in folders and zips with Ada's name and her own number, so that Ada's page would go to Jane."""
    texts = {
        name: submit(course, "x", answers).read_text()
        for name, answers in (("right", None), ("wrong", {EXERCISE: WRONG}))
    }
    shutil.rmtree(course.root / "submitted")
    forged = {f"{JANE}/{name}": content for name, content in files_of("Ada L_123_assignsubmission_file").items()}
    download(course, {f"{JANE}/{NOTEBOOK}": texts["wrong"], f"{ADA}/{NOTEBOOK}": texts["right"]} | forged)
    collect(course, "Moodle")
    assert files_collected(course) == {"Ada L": [NOTEBOOK], "Jane Doe": [NOTEBOOK, "mine.ipynb"]}
    said_by(course, "grade", "--gradebook", "--feedback")
    (course.root / "sheet.csv").write_text("Identifier,Full name,Grade\nParticipant 123,Jane,\nParticipant 124,Ada,\n")
    words = ("return", NAME, "--to", "moodle", "--sheet", "sheet.csv", "--marks", "m.csv", "--feedback", "p.zip")
    said_by(course, *words)
    rows = csv.DictReader((course.root / "m.csv").read_text("utf-8-sig").splitlines())
    assert {row["Identifier"]: row["Grade"] for row in rows} == {"Participant 123": "0.3", "Participant 124": "3"}
    with zipfile.ZipFile(course.root / "p.zip") as pages:
        assert sorted(pages.namelist()) == [f"{ADA}/first.html", f"{JANE}/first.html"]
        assert pages.read(f"{JANE}/first.html") == (course.root / f"feedback/Jane Doe/{NAME}/first.html").read_bytes()


def test_moodle_file_name_does_not_show_hidden_names(course):
    """Where names are hidden, `Participante` is nobody's name, whatever one of the students calls a file."""
    folders = [f"Participante_{number}_assignsubmission_file" for number in range(101, 105)]
    work = dict.fromkeys([f"{folder}/{NOTEBOOK}" for folder in folders], released(course).read_text())
    forged = [f"{folders[2]}/{name}" for name in ("Zed_1_assignsubmission_file_notes.txt", f"{JANE}/deep/{ADA}/x.txt")]
    download(course, work | dict.fromkeys(forged, "notes"))
    collect(course, "Moodle")
    assert files_collected(course).keys() == {f"Participante_{number}" for number in range(101, 105)}


@pytest.mark.slow
def test_folder_in_submitted_that_cannot_be_written_costs_one_student(course):
    """A name with brackets is a name: its page goes back, too."""
    names = {"Ann Lee [PRO]": 1, "Bob [a-z]": 2, "b": 3, "Cy": 4, "Dan": 5, "Zoe": 6}
    folders = {name: f"{name}_{number}_assignsubmission_file" for name, number in names.items()}
    download(course, {f"{folder}/{NOTEBOOK}": released(course).read_text() for folder in folders.values()})
    (course.root / "submitted").mkdir()
    (course.root / "submitted" / "Cy").touch()
    (course.root / "submitted" / "Dan").symlink_to("nowhere")
    _, left = collect(course, "Moodle", code=1)
    assert names.keys() & {line.strip().partition(":")[0] for line in left} == {"Cy", "Dan"}
    assert files_collected(course).keys() == names.keys() - {"Cy", "Dan"}
    for name in ("Cy", "Dan"):
        (course.root / "submitted" / name).unlink()
        del folders[name]
    said_by(course, "grade", "--gradebook", "--feedback")
    words = ("return", NAME, "--to", "moodle", "--feedback", "p.zip")
    (course.root / "feedback" / "Zoe" / NAME / "first.html").unlink()
    (course.root / "feedback" / "Zoe" / NAME / "first.html").symlink_to(course.root / "gradebook.db")
    assert "Zoe has no feedback page" in said_by(course, *words, code=1)
    with zipfile.ZipFile(course.root / "p.zip") as pages:
        assert sorted(pages.namelist()) == sorted(f"{folders[name]}/first.html" for name in folders.keys() - {"Zoe"})


def test_canvas_submission_belongs_to_the_student_in_canvas_own_name(course):
    work = released(course).read_text()
    forged = {f"doejane_4321_98766_{name}": data for name, data in files_of("bob_99_5").items() if "/" not in name}
    forged["doejane_4321_98767_work.zip"] = packed({f"bob_99_5_{NOTEBOOK}": "{}"})
    download(course, {f"doejane_4321_98765_{NOTEBOOK}": work} | forged)
    collect(course, "Canvas")
    assert files_collected(course).keys() == {"doejane_4321"}
    assert (course.root / "submitted" / "doejane_4321" / NAME / NOTEBOOK).read_text() == work


# ---------------------------------------------------------------- two students with one name


def test_two_students_with_one_name_are_both_reported(course):
    work = released(course).read_text()
    other = "Jane Doe_777_assignsubmission_file"
    download(course, {f"{JANE}/{NOTEBOOK}": work, f"{other}/{NOTEBOOK}": "{}", f"{ADA}/{NOTEBOOK}": work})
    _, left = collect(course, "Moodle", code=1)
    assert files_collected(course).keys() == {"Ada L"}
    (line,) = lines_with(left, "Jane Doe")
    assert f"{JANE} and {other}: the same student 'Jane Doe', so neither is collected" in line


def test_name_that_cannot_be_a_folder_is_left_out(tmp_path):
    names = ["..", ".", ".x", "<b>", "a\\b"]
    for folder in (*(f"{name}_5_assignsubmission_file" for name in names), ADA):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / NOTEBOOK).touch()
    ours = Moodle(extracted=str(tmp_path))
    assert {owner.student for owner in ours.sorted_out.taken.values()} == {"Ada L"}
    assert ["cannot be a folder's name" in line for line in ours.left] == [True] * len(names)


# ---------------------------------------------------------------- malicious archives


def entry(name, kind=0):
    info = zipfile.ZipInfo(name)
    info.external_attr = (kind | 0o644) << 16
    return info


BAD_ENTRIES = {
    "leads out of the archive": ["../x.ipynb", "/tmp/x.ipynb", "a/../../x.ipynb", "a\\..\\x.ipynb"],
    "is a link": [entry("link.ipynb", stat.S_IFLNK)],
    "is not a file": [entry("pipe", stat.S_IFIFO)],
}


def test_entries_that_are_not_plain_files_are_left_out(course):
    path = archive_of(course) / "submissions.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for names in BAD_ENTRIES.values():
            for name in names:
                archive.writestr(name, "../../../../gradebook.db")
        archive.writestr(f"{ADA}/{NOTEBOOK}", released(course).read_text())
    output, left = collect(course, "Moodle", code=1)
    assert files_collected(course) == {"Ada L": [NOTEBOOK]}
    files = [path.name for path in (course.root / "downloaded" / NAME / "extracted").rglob("*") if not path.is_dir()]
    assert files == [NOTEBOOK]
    for reason, names in BAD_ENTRIES.items():
        assert sum("submissions.zip: " in line for line in lines_with(left, reason)) == len(names), output


def test_unpacked_archive_is_collected_without_links(course):
    place = archive_of(course) / ADA
    place.mkdir()
    shutil.copy(released(course), place)
    (place / "notes.txt").symlink_to(course.root / "gradebook.db")
    (place / "folder").symlink_to(course.root / "source")
    os.mkfifo(place / "pipe.ipynb")
    _, left = collect(course, "Moodle", code=1)
    assert files_collected(course) == {"Ada L": [NOTEBOOK]}
    assert lines_with(left, f"{ADA}/notes.txt is a link")
    assert lines_with(left, f"{ADA}/folder is a link")
    assert lines_with(left, f"{ADA}/pipe.ipynb is not a file")


def test_archive_over_the_limits_is_not_unpacked(tmp_path, monkeypatch):
    path = tmp_path / "bomb.zip"
    path.write_bytes(packed({"a.ipynb": bytes(2**20), "b.ipynb": "small"}))

    def refused():
        with pytest.raises(unpack.SubmissionError) as error:
            unpack.unpack(path, tmp_path / "out")
        assert not (tmp_path / "out").exists()
        return str(error.value)

    with monkeypatch.context() as limits:
        limits.setattr(unpack, "MAX_ALL", 2**20)
        assert "unpacked, it would have" in refused()
    with monkeypatch.context() as limits:
        limits.setattr(unpack, "MAX_ENTRIES", 1)
        assert refused() == "it has 2 files; the limit is 1"
    with monkeypatch.context() as limits:
        limits.setattr(unpack, "MAX_FILE", 2**19)
        assert unpack.unpack(path, tmp_path / "out") == ["a.ipynb would unpack to 1 MB; the limit is 0"]
    assert [one.name for one in (tmp_path / "out").iterdir()] == ["b.ipynb"]


def test_entry_with_a_false_size_is_left_out(tmp_path):
    """A zip bomb claims to be small; a broken upload ends early."""
    data = bytearray(packed({"a.ipynb": bytes(2**20), "b.ipynb": "small"}))
    for signature, place in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):  # offsets of an entry's size
        at = data.index(signature) + place
        data[at : at + 4] = (10).to_bytes(4, "little")
    (tmp_path / "lie.zip").write_bytes(data)
    (line,) = unpack.unpack(tmp_path / "lie.zip", tmp_path / "out")
    assert line.startswith("a.ipynb cannot be unpacked")
    assert [one.name for one in (tmp_path / "out").iterdir()] == ["b.ipynb"]

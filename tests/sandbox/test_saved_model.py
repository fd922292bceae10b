"""A saved model beside a notebook is read as data. A sentence says how many items it summarises; it earns nothing."""

from __future__ import annotations

import html
import json
import os
import pickle
import struct
import sys

import nbformat
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from nbgrader.api import Gradebook
from safetensors.numpy import save

from attention_course.helpers import news
from attention_course.helpers.plain_decoder import PlainDecoder
from attention_course.saved_model import ITEMS, NO_POINTS, OWN_CODE, exact, held_out, sentence
from autograder.authoring.notebook_checks import no_secret
from autograder.authoring.sample_class import hand_in, model_answers
from autograder.nbgrader import api
from autograder.submission import MAX_MODEL, MODEL, ModelFile, Submission, model_beside, stamp
from tests.helpers.in_process import COURSE
from tests.helpers.releases import filled, released
from tests.helpers.terminal import autograder

A6 = COURSE.assignment("a6_transformer_summarizer")
PLAN, REFERENCE = A6.saved_model, A6.reference()
SIZES = {"vocab_size": len(news.WORDS), **PLAN.sizes}
STRANGE = '<img src=x onerror="alert(1)">\x1b[2J\u202e\n'


def untrained(kind=REFERENCE.TransformerDecoder):
    torch.manual_seed(5)
    return kind(**SIZES)


def numbers(model):
    return {name: parameter.detach().numpy().copy() for name, parameter in model.named_parameters()}


WEIGHTS = numbers(untrained())
GOOD = save(WEIGHTS)
NONE_EXACT = f"Saved model: 0 of {ITEMS} held-out items summarised exactly. {NO_POINTS}"


def sentence_about(data):
    return sentence(ModelFile(data), PLAN, REFERENCE)


# ---------------------------------------------------------------- counting exact summaries


class KnowsItems(torch.nn.Module):
    """Predicts the right next token in texts that it knows, and otherwise padding."""

    def __init__(self, items):
        super().__init__()
        self.next = {}
        for item in items:
            text = [*news.encode(item.article), news.SEPARATOR_ID, *news.encode(item.summary), news.END_ID]
            self.next |= {tuple(text[:place]): text[place] for place in range(1, len(text))}

    def forward(self, token_ids):
        rows = [[self.next.get(tuple(row[: i + 1]), 0) for i in range(len(row))] for row in token_ids.tolist()]
        return torch.nn.functional.one_hot(torch.tensor(rows), len(news.WORDS)).float()


@pytest.mark.parametrize("known", [0, 37])
def test_exact_summaries_are_counted(known):
    items = held_out()[:40]
    model = KnowsItems(items[:known])
    assert exact(model, items) == known
    if known:
        item = items[0]
        words = [*news.encode(item.article), news.SEPARATOR_ID, *news.encode(item.summary)]
        model.next[tuple(words)] = 5  # after the summary, instead of the end
        assert exact(model, items) == known - 1


def test_students_do_not_have_the_held_out_items():
    seen = {item.summary for part in news.items() for item in part}
    assert len(held_out()) == len(set(held_out())) == ITEMS
    assert not seen & {item.summary for item in held_out()}


def test_decoder_made_of_pytorch_layers_is_read():
    assert sentence_about(GOOD) == NONE_EXACT
    assert sentence_about(save(numbers(untrained(PlainDecoder)))) == NONE_EXACT


# ---------------------------------------------------------------- invalid files


def headed(header, body=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def changed(name, array):
    return save(WEIGHTS | {name: array})


HUGE = {"x": {"dtype": "F32", "shape": [2**62, 2**62], "data_offsets": [0, 4]}}
NAMES = {f"{i}{STRANGE}": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]} for i in range(36_500)}
BAD = {
    "a name missing": (save({n: w for n, w in WEIGHTS.items() if n != "norm.bias"}), "it lacks norm.bias. Train with"),
    "a shape": (changed("norm.bias", np.zeros(65, np.float32)), "norm.bias has the shape (65,) in place of (64,)"),
    "float64": (changed("norm.bias", np.zeros(64)), "norm.bias is float64, where float32 belongs"),
    "nan": (changed("output.bias", np.full_like(WEIGHTS["output.bias"], np.nan)), "output.bias holds NaN or infinity"),
    "empty": (b"", "it is empty"),
    "cut off": (GOOD[:-100], "not a whole one"),
    "more elements than bytes": (headed(HUGE, bytes(4)), "no safetensors file"),
    "names without end": (headed(NAMES), "it lacks"),
    "a pickle": (pickle.dumps(WEIGHTS), "no safetensors file"),
}


@pytest.mark.parametrize("case", BAD)
def test_invalid_file_gives_reason_and_next_step(case):
    data, words = BAD[case]
    text = sentence_about(data)
    assert words in text
    assert text.startswith(f"Saved model: {MODEL} could not be used: ")
    assert text.endswith(NO_POINTS) and "again" in text
    assert len(text) < 500 and text.isprintable()


def test_missing_package_and_internal_error_are_reported(monkeypatch, capsys):
    with monkeypatch.context() as patch:
        patch.setattr("attention_course.saved_model.exact", lambda model, items: 1 / 0)
        assert "the grader itself failed" in sentence_about(GOOD)
    assert "ZeroDivisionError" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "safetensors.numpy", None)
    assert "the package safetensors is missing where it was graded" in sentence_about(GOOD)


def mutated(data, places):
    changed = bytearray(data)
    for place, byte in places:
        changed[place] = byte
    return bytes(changed)


HEADER = 8 + struct.unpack("<Q", GOOD[:8])[0]
places = st.lists(st.tuples(st.integers(0, HEADER), st.integers(0, 255)), min_size=1, max_size=4)


@pytest.mark.slow
@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.binary() | st.builds(mutated, st.just(GOOD), places))
def test_any_bytes_give_a_sentence(data):
    text = sentence_about(data)
    assert text.startswith("Saved model: ") and text.endswith(NO_POINTS)
    assert text.isprintable() and len(text) < 500
    assert "grader itself" not in text


# ---------------------------------------------------------------- reading the file


def read_model(folder, takes=True):
    return model_beside(Submission("ada", A6.name, folder / A6.notebook.name, takes_model=takes))


@pytest.mark.parametrize(
    ("write", "words"),
    [
        (lambda path: path.symlink_to("/dev/zero"), "it is a link"),
        (os.mkfifo, "is not a file"),
        (lambda path: path.write_bytes(bytes(MAX_MODEL + 2**19)), "has 4.5 MB; the limit is 4"),
    ],
)
def test_only_a_plain_file_of_bounded_size_is_read(tmp_path, write, words):
    write(tmp_path / MODEL)
    assert read_model(tmp_path).data == b""
    assert words in sentence(read_model(tmp_path), PLAN, REFERENCE)


def test_changed_model_file_changes_the_submission_stamp(tmp_path):
    submission = Submission("ada", A6.name, tmp_path / A6.notebook.name, takes_model=True)
    submission.path.write_text("{}")
    assert read_model(tmp_path) is None
    stamps = [stamp(submission, "1")]
    for data in (b"", b"x", GOOD):
        (tmp_path / MODEL).write_bytes(data)
        stamps.append(stamp(submission, "1"))
    assert len(set(stamps)) == 4
    assert read_model(tmp_path) == ModelFile(GOOD)
    assert read_model(tmp_path, takes=False) is None


# ---------------------------------------------------------------- the course


def test_model_left_in_source_is_reported(own_course):
    assignment = own_course.assignment(A6.name)
    notebook = nbformat.read(assignment.notebook, as_version=4)
    (assignment.notebook.parent / MODEL).write_bytes(GOOD)
    assert [f for f in no_secret(assignment, notebook, nbformat.v4.new_notebook()) if f.path.name == MODEL]


def test_notebook_cell_saves_a_readable_model(tmp_path, monkeypatch, capsys):
    code = next(c.source for c in nbformat.read(released(A6), as_version=4).cells if c["id"] == "save-code")
    monkeypatch.chdir(tmp_path)

    class Unscaled(REFERENCE.TransformerDecoder):
        def forward(self, token_ids, padding=None):
            return super().forward(token_ids, padding) / 2

    names = {"model": untrained(), "torch": torch, "news": news}
    exec(code, names | {"grading": True})
    assert not (tmp_path / MODEL).exists()  # nothing is saved while work is graded
    exec(code, names | {"grading": False})
    assert MODEL in capsys.readouterr().out
    assert sentence(read_model(tmp_path), PLAN, REFERENCE) == NONE_EXACT
    exec(code, names | {"grading": False, "model": untrained(Unscaled)})
    text = sentence(read_model(tmp_path), PLAN, REFERENCE)
    assert "Your own code makes other logits of these numbers than the course's decoder" in text
    assert "other logits" in sentence_about(save(WEIGHTS | {OWN_CODE: np.zeros(3, np.float32)}))


# ---------------------------------------------------------------- through a real course

SEARCH = (
    "import os\nfound = []\nfor place, _, names in os.walk('/'):\n"
    f"    found += [place] * ({MODEL!r} in names)\nprint('found', found)"
)


@pytest.mark.catalogue
def test_saved_model_is_reported_on_the_page_and_changes_no_mark(own_course):
    """The sentence is escaped, below the cell that saves. The file is copied, but is never in the sandbox."""
    assert api(own_course.root).generate_assignment(A6.name)["success"]
    first = dict([*model_answers(A6).items()][:1])
    files = {"without": b"", "strange": save({STRANGE: WEIGHTS["norm.bias"]})}
    for student, data in files.items():
        notebook = filled(own_course.assignment(A6.name), first)
        notebook.cells.append(nbformat.v4.new_code_cell(SEARCH))
        hand_in(notebook, own_course.root / "submitted", student, A6)
        if data:
            (own_course.root / "submitted" / student / A6.name / MODEL).write_bytes(data)
    words = ("--assignment", A6.name, "--gradebook", "--jobs", "1", "--feedback")
    done = autograder("grade", *words, cwd=own_course.root)
    assert "2 graded, 0 could not be graded" in done.stdout + done.stderr
    with Gradebook(f"sqlite:///{own_course.root}/gradebook.db") as book:
        marks = {one.student.id: one.score for one in book.assignment_submissions(A6.name)}
    assert marks.keys() == files.keys()
    assert len(set(marks.values())) == 1 and 0 < marks["without"] < A6.max_score
    feedback = {s: own_course.root / "feedback" / s / A6.name / f"{A6.notebook.stem}.html" for s in files}
    pages = {student: path.read_text() for student, path in feedback.items()}
    assert "Saved model" not in pages["without"]
    assert "<img src=x" not in pages["strange"]
    assert 'has no <img src=x onerror="alert(1)">' in html.unescape(pages["strange"])
    folder = own_course.root / "autograded" / "strange" / A6.name
    assert (folder / MODEL).read_bytes() == files["strange"]
    cells = nbformat.read(folder / A6.notebook.name, as_version=4).cells
    assert [MODEL in cell.source for cell in cells if "Saved model" in str(cell.get("outputs"))] == [True]
    assert "found []\n" in [output.get("text") for cell in cells for output in cell.get("outputs", [])]

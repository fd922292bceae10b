"""A saved model beside a notebook: read as data whatever its bytes are, judged by what it writes, worth no points."""

from __future__ import annotations

import html
import json
import os
import pickle
import struct
import subprocess
import sys
import time

import nbformat
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from nbgrader.api import Gradebook
from safetensors.numpy import load, save

from attention_course.helpers import news
from attention_course.helpers.plain_decoder import PlainDecoder
from attention_course.saved_model import ITEMS, NO_POINTS, OWN_CODE, exact, held_out, sentence
from autograder.authoring.notebook_checks import no_secret
from autograder.authoring.sample_class import hand_in, model_answers
from autograder.errors import CourseError
from autograder.nbgrader import api
from autograder.reports.marks_file import read_marks, report_of
from autograder.submission import MAX_MODEL, MODEL, ModelFile, Submission, model_beside, stamp
from autograder.systems.gradescope_results import as_gradescope
from tests.conftest import copy_course
from tests.helpers.in_process import ASSIGNMENTS, COURSE
from tests.helpers.releases import filled, released
from tests.helpers.sandboxes import Marker
from tests.helpers.terminal import autograder

A1 = ASSIGNMENTS[0]
A6 = COURSE.assignment("a6_transformer_summarizer")
PLAN, REFERENCE = A6.saved_model, A6.reference()
SIZES = {"vocab_size": len(news.WORDS), **PLAN.sizes}
STRANGE = '<img src=x onerror="alert(1)">\x1b[2J\u202e\n'

KNOWN = 4  # held-out items that a model here has learned by heart


def numbers(model):
    return {name: parameter.detach().numpy().copy() for name, parameter in model.named_parameters()}


def untrained(kind=REFERENCE.TransformerDecoder):
    torch.manual_seed(5)
    return kind(**SIZES)


WEIGHTS = numbers(untrained())
GOOD = save(WEIGHTS)


def said(data):
    return sentence(ModelFile(data), PLAN, REFERENCE)


def count(text):
    words = f"of {ITEMS} held-out items summarised exactly. {NO_POINTS}"
    assert text.startswith("Saved model: "), text
    assert text.endswith(words), text
    return int(text.split()[2])


@pytest.fixture(scope="module")
def learned():
    """A decoder that has learned a few held-out items by heart."""
    torch.manual_seed(0)
    torch.set_num_threads(1)  # faster for a model so small
    model = REFERENCE.TransformerDecoder(**SIZES)
    texts = [
        REFERENCE.training_example(news.encode(i.article), news.encode(i.summary), news.SEPARATOR_ID, news.END_ID)
        for i in held_out()[:KNOWN]
    ]
    L = max(len(ids) for ids, _ in texts)
    ids = torch.tensor([ids + [news.PADDING_ID] * (L - len(ids)) for ids, _ in texts])
    mask = torch.tensor([mask + [False] * (L - len(mask)) for _, mask in texts])
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _ in range(60):
        optimizer.zero_grad()
        REFERENCE.summary_loss(model(ids), ids, mask).backward()
        optimizer.step()
    return model.eval()


# ---------------------------------------------------------------- how many are exact


class Knowing(torch.nn.Module):
    """After each beginning of a text that it knows comes the right next token; after all else, padding."""

    def __init__(self, items):
        super().__init__()
        self.next = {}
        for item in items:
            text = [*news.encode(item.article), news.SEPARATOR_ID, *news.encode(item.summary), news.END_ID]
            self.next |= {tuple(text[:place]): text[place] for place in range(1, len(text))}

    def forward(self, token_ids):
        rows = [[self.next.get(tuple(row[: i + 1]), 0) for i in range(len(row))] for row in token_ids.tolist()]
        return torch.nn.functional.one_hot(torch.tensor(rows), len(news.WORDS)).float()


@pytest.mark.parametrize("known", [0, 1, 37, 60])
def test_the_count_is_how_many_it_knows(known):
    items = held_out()[:60]
    assert exact(Knowing(items[:known]), items) == known


@pytest.mark.parametrize("place", ["who", "where", "end"])
def test_one_wrong_word_or_no_end_is_not_exact(place):
    model, item = Knowing(held_out()[:2]), held_out()[0]
    given, summary = [*news.encode(item.article), news.SEPARATOR_ID], news.encode(item.summary)
    before = {"who": 0, "where": len(summary) - 1, "end": len(summary)}[place]
    model.next[tuple(given + summary[:before])] = 5
    assert exact(model, held_out()[:2]) == 1


@pytest.mark.slow
def test_it_is_what_greedy_decoding_writes(learned):
    items = held_out()[:12]
    written = [
        REFERENCE.greedy_summary(learned, news.encode(item.article), news.SEPARATOR_ID, news.END_ID, 12)
        for item in items
    ]
    right = sum(news.decode(ids) == item.summary for ids, item in zip(written, items, strict=True))
    assert exact(learned, items) == right
    assert KNOWN <= right < 12


@pytest.mark.slow
def test_held_out_items_are_none_that_students_have():
    seen = {item.summary for part in news.items() for item in part}
    assert len(held_out()) == len(set(held_out())) == ITEMS
    assert not seen & {item.summary for item in held_out()}


@pytest.mark.slow
def test_from_a_file_to_a_sentence(learned):
    assert count(said(save(numbers(learned)))) >= KNOWN
    assert count(said(GOOD)) == 0


def test_a_decoder_of_pytorchs_layers_is_read_too():
    assert count(said(save(numbers(untrained(PlainDecoder))))) == 0


def test_positions_may_be_saved_too():
    state = {name: tensor.numpy() for name, tensor in untrained().state_dict().items()}
    assert "positions" in state
    assert count(said(save(state | {"positions": 1e9 * state["positions"]}))) == 0


def test_torchs_random_numbers_go_on_where_they_were():
    torch.manual_seed(3)
    state = torch.get_rng_state()
    said(GOOD)
    assert torch.equal(torch.get_rng_state(), state)


# ---------------------------------------------------------------- what is no such file


def headed(header, body=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def changed(name, array):
    return save(WEIGHTS | {name: array})


def with_nan(value):
    array = WEIGHTS["output.bias"].copy()
    array[3] = value
    return changed("output.bias", array)


BF16 = headed({"output.bias": {"dtype": "BF16", "shape": [2], "data_offsets": [0, 4]}}, bytes(4))
BAD = {
    "a name missing": (save({n: w for n, w in WEIGHTS.items() if n != "norm.bias"}), "it lacks norm.bias. Train with"),
    "a name unknown": (changed("more", np.zeros(3, np.float32)), "the course's decoder has no more. Train with"),
    "other names": (save({f"my.{n}": w for n, w in WEIGHTS.items()}), "more, and the course's decoder has no my."),
    "nothing in it": (save({}), "it lacks embedding.weight"),
    "a shape": (changed("norm.bias", np.zeros(65, np.float32)), "norm.bias has the shape (65,) in place of (64,)"),
    "a turned shape": (changed("output.weight", WEIGHTS["output.weight"].T.copy()), "in place of"),
    "float64": (changed("norm.bias", np.zeros(64)), "norm.bias is float64, where float32 belongs"),
    "float16": (changed("norm.bias", np.zeros(64, np.float16)), "norm.bias is float16"),
    "whole numbers": (changed("norm.bias", np.zeros(64, np.int32)), "norm.bias is int32"),
    "bfloat16": (BF16, "float32 belongs"),
    "nan": (with_nan(np.nan), "output.bias holds NaN or infinity"),
    "infinity": (with_nan(-np.inf), "output.bias holds NaN or infinity"),
    "empty": (b"", "it is empty"),
    "cut off": (GOOD[:-100], "not a whole one"),
    "cut off in the header": (GOOD[:200], "not a whole one"),
    "a header without end": (b"\xff" * 8 + b"{}", "no safetensors file"),
    "a header as long as memory": (struct.pack("<Q", 2**40) + GOOD[8:], "no safetensors file"),
    "nested": (headed(b"[" * 10**6), "no safetensors file"),
    "more elements than bytes": (
        headed({"x": {"dtype": "F32", "shape": [2**62, 2**62], "data_offsets": [0, 4]}}, bytes(4)),
        "no safetensors file",
    ),
    "a pickle": (pickle.dumps(WEIGHTS), "no safetensors file"),
    "text": (b"my model\n" * 9, "no safetensors file"),
}


@pytest.mark.parametrize("case", BAD)
def test_the_reason_and_the_next_step_are_said(case):
    data, words = BAD[case]
    text = said(data)
    assert words in text
    assert text.startswith(f"Saved model: {MODEL} could not be used: ")
    assert text.endswith(NO_POINTS)
    assert "again" in text
    assert len(text) < 500


def test_huge_finite_weights_are_counted_like_any_others():
    assert count(said(save({name: np.full_like(array, 3e38) for name, array in WEIGHTS.items()}))) == 0


def test_a_header_full_of_names_takes_no_time():
    entries = {f"{i}{STRANGE}": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]} for i in range(36_500)}
    data = headed(entries)
    assert MAX_MODEL * 0.9 < len(data) <= MAX_MODEL
    start = time.process_time()
    text = said(data)
    assert time.process_time() - start < 5
    assert text.isprintable()
    assert len(text) < 500


@pytest.mark.parametrize("package", ["safetensors.numpy", "torch"])
def test_where_a_package_is_missing_it_is_said_and_nothing_is_lost(monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    text = said(GOOD)
    assert f"the package {package.partition('.')[0]} is missing where it was graded" in text
    assert "Nothing is lost" in text


def test_a_bug_of_the_kits_costs_nothing(monkeypatch, capsys):
    monkeypatch.setattr("attention_course.saved_model.exact", lambda model, items: 1 / 0)
    assert "the grader itself failed" in said(GOOD)
    assert "ZeroDivisionError" in capsys.readouterr().err


def mutated(data, places):
    changed = bytearray(data)
    for place, byte in places:
        changed[place % len(changed)] = byte
    return bytes(changed)


HEADER = 8 + struct.unpack("<Q", GOOD[:8])[0]
places = st.lists(st.tuples(st.integers(0, HEADER), st.integers(0, 255)), min_size=1, max_size=4)
some_json = st.recursive(
    st.none() | st.integers() | st.floats() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
)
specs = st.fixed_dictionaries(
    {
        "dtype": st.sampled_from(["F32", "F64", "BF16", "F8_E4M3", "I64", "BOOL", "F4", "no", ""]),
        "shape": st.lists(st.integers(-1, 2**64)) | some_json,
        "data_offsets": st.lists(st.integers(0, 8), min_size=2, max_size=2) | some_json,
    }
)
names = st.sampled_from([*WEIGHTS, "__metadata__"]) | st.text()


@pytest.mark.slow
@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    st.binary()
    | st.builds(mutated, st.just(GOOD), places)
    | st.builds(headed, some_json | st.dictionaries(names, specs), st.binary(max_size=16))
)
def test_any_bytes_are_a_sentence(data):
    text = said(data)
    assert text.startswith("Saved model: ")
    assert text.endswith(NO_POINTS)
    assert text.isprintable()
    assert "grader itself" not in text
    assert len(text) < 500


# ---------------------------------------------------------------- what lies there


def beside(folder, takes=True):
    return model_beside(Submission("ada", A6.name, folder / A6.notebook.name, takes_model=takes))


def a_link(path):
    (path.parent / "elsewhere").write_bytes(GOOD)
    path.symlink_to(path.parent / "elsewhere")


THERE = {
    "a link": (a_link, "it is a link"),
    "a link to nowhere": (lambda path: path.symlink_to("nowhere"), "it is a link"),
    "a pipe": (os.mkfifo, "is not a file"),
    "a folder": (lambda path: path.mkdir(), "is not a file"),
    "a device": (lambda path: path.symlink_to("/dev/zero"), "it is a link"),
    "too large": (lambda path: path.write_bytes(bytes(MAX_MODEL + 2**19)), "has 4.5 MB; the limit is 4"),
}


@pytest.mark.parametrize("case", THERE)
def test_only_a_plain_file_of_bounded_size_is_read(tmp_path, case):
    write, words = THERE[case]
    write(tmp_path / MODEL)
    file = beside(tmp_path)
    assert file.data == b""
    text = sentence(file, PLAN, REFERENCE)
    assert text.startswith(f"Saved model: {MODEL} ")
    assert words in text
    assert text.endswith(NO_POINTS)


def test_no_file_or_an_assignment_that_takes_none_says_nothing(tmp_path):
    assert beside(tmp_path) is None
    (tmp_path / MODEL).write_bytes(GOOD)
    assert beside(tmp_path) == ModelFile(GOOD)
    assert beside(tmp_path, takes=False) is None
    assert A1.saved_model is None


def test_a_changed_file_is_another_submission_for_the_journal(tmp_path):
    submission = Submission("ada", A6.name, tmp_path / A6.notebook.name, takes_model=True)
    submission.path.write_text("{}")
    stamps = [stamp(submission, "1")]
    for data in (b"", b"x", GOOD):
        (tmp_path / MODEL).write_bytes(data)
        stamps.append(stamp(submission, "1"))
    (tmp_path / MODEL).unlink()
    (tmp_path / MODEL).mkdir()
    stamps.append(stamp(submission, "1"))
    assert len(set(stamps)) == 5


# ---------------------------------------------------------------- the course


def test_metadata_that_is_not_in_order_is_named(own_course):
    wrong_sizes = {"class": "X", "sizes": {"d_model": "64"}}
    for asked in (3, {}, {"class": 3, "sizes": {}}, wrong_sizes, {"sizes": {"d_ff": 1}}):
        ask(own_course, asked)
        with pytest.raises(CourseError, match=r"scaled_dot_product.ipynb: the metadata's autograder: saved_model"):
            _ = own_course.assignment(A1.name).saved_model


@pytest.mark.slow
def test_a_decoder_that_the_solution_lacks_is_named(own_course, sandbox):
    ask(own_course, {"class": "TransformerDecoder", "sizes": {"d_model": 8}})
    with pytest.raises(CourseError, match=r"scaled_dot_product.ipynb.*there is no TransformerDecoder"):
        Marker(own_course.assignment(A1.name), sandbox).mark_cells("ana", [])


def ask(course, asked):
    path = course.assignment(A1.name).notebook
    notebook = nbformat.read(path, as_version=4)
    notebook.metadata["autograder"] = {"saved_model": asked}
    nbformat.write(notebook, path)


def test_a_model_left_in_source_would_be_handed_to_students(own_course):
    assignment = own_course.assignment(A6.name)
    notebook = nbformat.read(assignment.notebook, as_version=4)
    assert not [f for f in no_secret(assignment, notebook, nbformat.v4.new_notebook()) if f.path.name == MODEL]
    (assignment.notebook.parent / MODEL).write_bytes(GOOD)
    assert [f for f in no_secret(assignment, notebook, nbformat.v4.new_notebook()) if f.path.name == MODEL]


def cell(name):
    return next(c.source for c in nbformat.read(released(A6), as_version=4).cells if c["id"] == name)


def test_the_notebook_trains_the_sizes_that_grading_expects():
    def own_or_plain(own, **sizes):
        assert sizes == SIZES
        raise InterruptedError

    names = {"grading": False, "torch": torch, "news": news, "TransformerDecoder": None, "own_or_plain": own_or_plain}
    with pytest.raises(InterruptedError):
        exec(cell("train-model-code"), names)
    assert f"{ITEMS} of them" in cell("save")


def test_the_notebooks_own_cell_saves_what_is_read(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    model = untrained()
    names = {"model": model, "torch": torch, "news": news}
    exec(cell("save-code"), names | {"grading": True})
    assert not (tmp_path / MODEL).exists()  # nothing is saved while work is graded
    exec(cell("save-code"), names | {"grading": False})
    assert MODEL in capsys.readouterr().out
    assert count(sentence(beside(tmp_path), PLAN, REFERENCE)) == 0
    exec(cell("save-code"), names | {"grading": False, "model": PlainDecoder(**SIZES)})
    assert count(sentence(beside(tmp_path), PLAN, REFERENCE)) == 0
    (tmp_path / MODEL).unlink()
    monkeypatch.setitem(sys.modules, "safetensors.torch", None)
    exec(cell("save-code"), names | {"grading": False})
    assert "%pip install safetensors" in capsys.readouterr().out
    assert not (tmp_path / MODEL).exists()


@pytest.mark.slow
def test_a_report_says_where_the_students_own_code_makes_other_logits_of_the_numbers(tmp_path, monkeypatch):
    class Unscaled(REFERENCE.TransformerDecoder):
        def forward(self, token_ids, padding=None):
            return super().forward(token_ids, padding) / 2

    monkeypatch.chdir(tmp_path)
    torch.manual_seed(5)
    exec(cell("save-code"), {"grading": False, "model": Unscaled(**SIZES), "torch": torch, "news": news})
    told = sentence(beside(tmp_path), PLAN, REFERENCE)
    assert "Your own code makes other logits of these numbers than the course's decoder" in told
    assert told.startswith("Saved model: 0 of 200 held-out items summarised exactly.")
    assert told.endswith(NO_POINTS)
    for odd in (np.zeros(3, np.float32), np.full(len(news.WORDS), np.nan, np.float32), np.zeros((1, 1))):
        assert "other logits" in said(save(WEIGHTS | {OWN_CODE: odd}))


# ---------------------------------------------------------------- through a real course

LEFT = ("learned", "untrained", "without", "strange", "pipe")
CODE = (
    "import os\nfound = []\nfor place, _, names in os.walk('/'):\n"
    f"    found += [place] * ({MODEL!r} in names)\nprint('found', found)"
)


@pytest.fixture(scope="module")
def graded(tmp_path_factory, learned):
    """A class of one answer and many files, graded by workers to whom they are sent with the tasks."""
    course = copy_course(tmp_path_factory.mktemp("saved") / "course")
    assert api(course.root).generate_assignment(A6.name)["success"]
    right = model_answers(A6) | {"greedy_summary": "def greedy_summary(*args):\n    return [1, 2]"}
    for student in LEFT:
        notebook = filled(course.assignment(A6.name), right)
        notebook.cells.append(nbformat.v4.new_code_cell(CODE))
        if student == "pipe":  # the cell that saves, and so the one the sentence stands below
            notebook.cells = [c for c in notebook.cells if MODEL not in c.source]
        hand_in(notebook, course.root / "submitted", student, A6)
    place(course, "learned").write_bytes(save(numbers(learned)))
    place(course, "untrained").write_bytes(GOOD)
    place(course, "strange").write_bytes(save({f"{STRANGE}": WEIGHTS["norm.bias"]}))
    os.mkfifo(place(course, "pipe"))
    result = run(course, "--gradebook", "--jobs", "2", "--feedback")
    assert "5 graded, 0 could not be graded" in result, result
    return course


def run(course, *words):
    command = [sys.executable, "-m", "autograder", "grade", "--assignment", A6.name, *words]
    done = subprocess.run(command, cwd=course.root, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def place(course, student):
    return course.root / "submitted" / student / A6.name / MODEL


def page(course, student):
    return (course.root / "feedback" / student / A6.name / f"{A6.notebook.stem}.html").read_text()


def autograded(course, student):
    return nbformat.read(course.root / "autograded" / student / A6.name / A6.notebook.name, as_version=4)


def marks(course):
    with Gradebook(f"sqlite:///{course.root}/gradebook.db") as book:
        return {one.student.id: one.score for one in book.assignment_submissions(A6.name)}


@pytest.mark.slow
def test_marks_are_the_same_with_and_without_a_file(graded):
    assert set(marks(graded)) == set(LEFT)
    assert set(marks(graded).values()) == {marks(graded)["without"]}
    assert 0 < marks(graded)["without"] < A6.max_score


@pytest.mark.slow
def test_the_feedback_page_shows_the_sentence_as_text(graded):
    assert "Saved model" not in page(graded, "without")
    assert f"0 of {ITEMS} held-out items summarised exactly" in page(graded, "untrained")
    assert f"of {ITEMS} held-out items summarised exactly. {NO_POINTS}" in page(graded, "learned")
    assert f"{MODEL} is not a file" in page(graded, "pipe")
    assert "<img src=x" not in page(graded, "strange")
    assert 'has no <img src=x onerror="alert(1)">' in html.unescape(page(graded, "strange"))


@pytest.mark.slow
def test_it_stands_below_the_cell_that_saves(graded):
    for student in ("learned", "strange"):
        cells = [c for c in autograded(graded, student).cells if "Saved model" in str(c.get("outputs"))]
        assert [MODEL in c.source for c in cells] == [True]


@pytest.mark.slow
def test_the_file_is_copied_along_and_never_in_the_sandbox(graded):
    copied = graded.root / "autograded" / "learned" / A6.name / MODEL
    assert load(copied.read_bytes()).keys() == WEIGHTS.keys()
    assert not (graded.root / "autograded" / "pipe" / A6.name / MODEL).exists()
    outputs = [output for cell in autograded(graded, "learned").cells for output in cell.get("outputs", [])]
    assert "found []\n" in [output.get("text") for output in outputs]


@pytest.mark.catalogue
@pytest.mark.slow
def test_json_terminal_and_what_reads_them(graded, tmp_path):
    out = tmp_path / "marks.json"
    some = [graded.root / "submitted" / student for student in ("learned", "strange", "without")]
    done = autograder("grade", *some, "--json", out, cwd=graded.root)
    assert done.returncode == 0, done.stderr
    entries = {entry["student"]: entry for entry in json.loads(out.read_text())}
    assert {name for name in entries if "extra" in entries[name]} == {"learned", "strange"}
    assert count(entries["learned"]["extra"]) >= KNOWN
    assert len({entry["score"] for entry in entries.values()}) == 1
    assert [report.to_dict() for report in read_marks([out])] == json.loads(out.read_text())
    assert report_of(entries["learned"]).extra == entries["learned"]["extra"]
    assert entries["learned"]["extra"] in as_gradescope(report_of(entries["learned"]))["output"]
    shown = " ".join(done.stdout.split())
    assert entries["learned"]["extra"] in shown
    assert "the course's decoder has no <img src=x" in shown
    assert "\x1b[2J" not in done.stdout
    assert shown.count("Saved model") == 2


@pytest.mark.catalogue
@pytest.mark.slow
def test_a_changed_file_is_graded_again_and_an_unchanged_one_is_not(graded):
    place(graded, "without").write_bytes(GOOD)
    place(graded, "untrained").unlink()
    assert "2 graded, 3 unchanged" in run(graded, "--gradebook", "--quiet", "--feedback")
    assert f"0 of {ITEMS} held-out" in page(graded, "without")
    assert "Saved model" not in page(graded, "untrained")
    # formgrader's button grades one alone
    place(graded, "untrained").write_bytes(GOOD)
    assert api(graded.root).autograde(A6.name, "untrained")["success"]
    assert "Saved model: 0 of" in str(autograded(graded, "untrained"))
    assert set(marks(graded).values()) == {marks(graded)["pipe"]}

"""The engine knows no term of the course's subject: another course's teacher would look for a meaning in it."""

from __future__ import annotations

import ast
import re

import pytest

from tests.conftest import ROOT

ENGINE = ROOT / "autograder"
KINDS = {".py", ".toml", ".md", ".txt", ".html", ".css", ".js", ".yml", ".sh", ""}
# Whole words, underscores aside: `causal_mask` holds two of them.
TERM = re.compile(
    r"""(?<![A-Za-z])(?:
    softmax | sdpa | causal | (?:self-)?attention | attend(?:s|ing)? | mha | (?:scaled_)?dot_product
    | heads | multi-?head(?:attention)? | d_k | d_v | d_model | W_[QKVO] | queries | logits?
    | mask(?:s|ed|ing)? | transformers? | encoders? | decoders? | embeddings? | rotary | perplexity
    | conv(?:[123]d)? | convolv(?:e|es|ing) | convolutions? | summari[sz]er | induction
    )(?![A-Za-z]) | \bhead[ ](?:\d|\{)""",
    re.IGNORECASE | re.VERBOSE,
)
# A file (or a folder), a line of it, and why the word may stand there.
ALLOWED = [
    ("sandbox/protocol/frames.py", r"msgpack\.Decoder", "a class of the library's"),
    ("reports/class_", r"[Aa]ttention", "students who need attention: the English word"),
    ("reports/templates/class_report.html", r"attention", "students who need attention: the English word"),
    ("sandbox/sandboxed/shell.py", r"torch\.backends\.mha", "PyTorch's own switch of its modules' fast path"),
    ("testing/student.py", r"torch\.softmax, matmul and einsum", "functions of PyTorch's that any exercise may call"),
]


def lines():
    for path in sorted(ENGINE.rglob("*")):
        if path.is_file() and path.suffix in KINDS and "__pycache__" not in path.parts:
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
                yield path.relative_to(ENGINE).as_posix(), number, line


def test_the_engine_knows_no_term_of_the_subject():
    found = [
        f"autograder/{name}, line {number}: {term[0]!r} in {line.strip()}"
        for name, number, line in lines()
        for term in TERM.finditer(line)
        if not any(name.startswith(place) and re.search(text, line) for place, text, _ in ALLOWED)
    ]
    assert not found, "\n".join(["terms of the subject; say it in general words, or let the course say it", *found])


@pytest.mark.parametrize(("place", "text", "reason"), ALLOWED)
def test_what_is_allowed_is_needed(place, text, reason):
    assert any(name.startswith(place) and re.search(text, line) and TERM.search(line) for name, _, line in lines())


@pytest.mark.parametrize(
    "line", ["x = softmax(y)", "the causal_mask of it", "# (heads, L, S)", "Two Heads", 'f"head {n}"', "d_model=64"]
)
def test_terms_are_found(line):
    assert TERM.search(line)


@pytest.mark.parametrize("line", ["<head>", "os.umask(0)", "converters", "a header, ahead", "head of the class"])
def test_other_words_are_none(line):
    assert not TERM.search(line)


# Words of an earlier vocabulary. Each has a name in the field: see `docs/vocabulary.md`, and the words in brackets.
RETIRED = re.compile(
    r"""\b(?:
    desks? | hired | guests? | strangers? | rehears\w+ | foreseen | text[ ]twins? | twins | make[-_]believe
    | stand[-_]ins? | taken_away | made_by | left_to_grading | fit_to_print | whose_fault | kept_prints
    | visible[ ]checks?
    | hidden[ ]suites? | warm[ ]process | behind[ ](?:the|a|its|each|both)[ ]walls? | right[ ]ways? | wilds? | unsteady
    )\b""",
    re.VERBOSE | re.IGNORECASE,
)
OF_OTHERS = re.compile(r"guest (?:user|account)|^tests/(?:sandbox/red_team|course/(?:accepted|wrong_answers))/")
WRITTEN = ("autograder", "attention_course", "tools", "tests", "docs")
TEXTS = (".py", ".md", ".toml", ".txt", ".html", ".yml")


def written():
    pages = [*ROOT.glob("*.md"), *(path for top in WRITTEN for path in sorted((ROOT / top).rglob("*")))]
    for path in pages:
        name = path.relative_to(ROOT).as_posix()
        if path.suffix in TEXTS and name not in ("CHANGELOG.md", "tests/engine/test_words.py"):
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
                yield name, number, line


def test_retired_words_do_not_come_back():
    """One concept, one name, and the name the field uses: worker, child, untrusted, recording, fork server, proxy."""
    found = [
        f"{name}, line {number}: {word[0]!r} in {line.strip()[:100]}"
        for name, number, line in written()
        for word in RETIRED.finditer(line)
        if not OF_OTHERS.search(name) and not OF_OTHERS.search(line)
    ]
    assert not found, "\n".join(["retired words", *found])


@pytest.mark.parametrize("line", ["a desk marks it", "what strangers wrote", "the Rehearsal", "behind the wall"])
def test_retired_words_are_found(line):
    assert RETIRED.search(line)


# As nouns they are nobody's terms: a message, a recorded call, what was reported, points, an owner, what was corrected.
DIALECT = {"heard", "said", "told", "moot", "meant", "whose", "worth"}


def identifiers(tree):
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.arg(arg=name) | ast.Attribute(attr=name):
                yield name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name


def dialect_in(tree):
    return {name for name in identifiers(tree) if not DIALECT.isdisjoint(name.lower().split("_"))}


def test_no_identifier_is_of_the_earlier_dialect():
    trees = {path.relative_to(ROOT): ast.parse(path.read_text()) for path in ENGINE.rglob("*.py")}
    assert {str(path): found for path, tree in trees.items() if (found := dialect_in(tree))} == {}
    assert dialect_in(ast.parse("def f(heard): self.as_said = f.is_told")) == {"heard", "as_said", "is_told"}

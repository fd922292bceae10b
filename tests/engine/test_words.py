"""The engine knows no term of the course's subject: another course's teacher would look for a meaning in it."""

from __future__ import annotations

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

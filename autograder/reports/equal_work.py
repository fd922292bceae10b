"""Students whose code for an exercise is equal apart from names, comments and layout.

It is for a person to look at, and accuses nobody. Code is only split into tokens, in linear time: no parser, which
nested code could crash, sees it.
"""

from __future__ import annotations

import ast
import hashlib
import io
import keyword
import tokenize
from collections import defaultdict
from collections.abc import Collection, Iterable

from autograder.course.assignments import Assignment
from autograder.submission import read_notebook

Code = tuple[str, str, str]  # assignment, exercise, student
SHORT = 40  # tokens; shorter code is often equal by chance
LONG = 20_000  # characters; an exercise has 2,000
LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER}
SHAPE = {tokenize.NEWLINE: "", tokenize.INDENT: ">", tokenize.DEDENT: "<"}  # however wide


def digest(source: str) -> str:
    """The same for code that is equal apart from names, comments and layout; empty if it is short, or is no Python.

    Attributes keep their names, since `x.sum` is not `x.mean`.
    """
    kept, names, words = list[tokenize.TokenInfo](), dict[str, str](), list[str]()
    try:
        for token in tokenize.generate_tokens(io.StringIO(source if len(source) <= LONG else "").readline):
            is_end, last = token.type == tokenize.NEWLINE, [one.type for one in kept[-2:]]
            if is_end and last[-1:] == [tokenize.STRING] and SHAPE.keys() >= {*last[:-1]}:
                kept.pop()  # a docstring
            elif token.type not in LAYOUT:
                kept.append(token)
    except (tokenize.TokenError, SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    for before, token in zip([None, *kept], kept, strict=False):
        word = SHAPE.get(token.type, token.string)
        is_attribute = before is not None and before.string == "."
        if token.type == tokenize.NAME and not keyword.iskeyword(word) and not is_attribute:
            word = names.setdefault(word, f"name {len(names)}")
        words.append(word)
    return hashlib.sha256("\n".join(words).encode("utf-8", "replace")).hexdigest() if len(words) >= SHORT else ""


def equal_work(sources: Iterable[tuple[Code, str]], known: Collection[str]) -> dict[str, list[tuple[str, list[str]]]]:
    """By assignment, the groups of at least two students with equal code: the exercise and the students.

    known: digests of code that many may write, see `written_by_the_course`
    """
    groups = defaultdict[tuple[str, str, str], set[str]](set)
    for (assignment, exercise, student), source in sources:
        if (found := digest(source)) and found not in known:
            groups[assignment, exercise, found].add(student)
    by_assignment = defaultdict[str, list[tuple[str, list[str]]]](list)
    for (assignment, exercise, _), students in groups.items():
        if len(students) > 1:
            by_assignment[assignment].append((exercise, sorted(students, key=str.casefold)))
    return dict(by_assignment)


def written_by_the_course(assignment: Assignment) -> set[str]:
    """Digests of an assignment's model answers and known mistakes."""
    found = {digest(cell.source) for cell in read_notebook(assignment.notebook).cells if cell.cell_type == "code"}
    for path in assignment.mistakes:
        text = path.read_text(encoding="utf-8")
        definitions = (one for one in ast.walk(ast.parse(text)) if isinstance(one, ast.FunctionDef | ast.ClassDef))
        found |= {digest(ast.get_source_segment(text, one) or "") for one in definitions}
    return found

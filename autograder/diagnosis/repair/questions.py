"""The question to a student about the place of an edit. It never gives the edit away."""

from __future__ import annotations

MAX_SHOWN = 60  # characters of code in a sentence
ALL_OF_THEM = "what does each step do, in words, and does the task ask for all of them?"
BY_HAND = "what does it give for two small numbers, worked out by hand?"
# By the kind of edit. Each goes on after the code that it is about.
QUESTIONS = {
    "statement": "what is this line for, and which sentence of the task asks for it?",
    "condition": "when is the condition true, and what should happen when it is not?",
    "call": ALL_OF_THEM,
    "sign": BY_HAND,
    "operand": ALL_OF_THEM,
    "subscript": "what do the brackets take out, and does the task ask for that?",
    "element": "what is each of these for?",
    "axis": "which axis is that, also with one more axis in front? Write the shape beside the line.",
    "comparison": "for which values is the condition true? Try the one where both sides are equal.",
    "mask": "where is this True, and what should happen there?",
    "number": "what does this number stand for, and for which inputs is it right?",
    "bool": "what does each option do?",
    "order": "which value belongs where? Say it in words, and compare with the task.",
    "operator": BY_HAND,
    "bounds": "which is the first that it takes, and which is the last? Work it out for length 3.",
    "index": "what does each place in the brackets stand for, also with one more axis in front?",
    "function": "what does it give for a small array, worked out by hand?",
    "in place": "what did this name hold before, and whose array is it?",
    "result": "this returns something new. Where does it go?",
    "copy": "which line changes this argument?",
    "keyword": "which axes and options does it need here, and which does it use by default?",
    "name": "what does it hold here, and is that what this line needs?",
    "target": "which name should hold the result?",
    "dtype": "which dtype does it have, and which one should it have?",
    "step": "is there a step between this and what the task asks for? Write down both shapes.",
}
# Kinds with one or two alternatives: the part would give the answer away. The line is enough.
ONLY_THE_LINE = frozenset({"condition", "sign", "comparison", "bool", "order", "operator", "statement"})


def shortened(text: str) -> str:
    """A text on one line, cut to what a sentence can hold."""
    words = " ".join(text.split()).replace("`", "'")
    return words if len(words) <= MAX_SHOWN else f"{words[: MAX_SHOWN - 3]}..."

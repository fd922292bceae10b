"""Made-up news: short articles with one-line summaries, for training a small summarizer.

    from autograder import news
    train, held_out = news.items()
    train[0].article     "on friday the chess cup was won by mira in oslo . hugo stayed at home in lima ."
    train[0].summary     "mira wins the chess cup in oslo"

An article has two to four sentences. One or two tell the news (*mira came to oslo . there she ...*); the others
distract with other people, places and things: a year ago, hopes, homes. The summary picks out who, what and where. In
one of ten items the place is missing, so the summary ends earlier; in another one of ten, somebody moves to another
place. Everything comes from templates and a fixed seed, so there is nothing to download.

All summaries differ, so no held-out summary occurs in training.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

SEED = 20170612  # the day of "Attention Is All You Need"
TRAIN, HELD_OUT = 6000, 400

HER = (
    "ada", "alma", "carla", "dana", "elif", "ines", "juno", "kira", "lena", "mira", "nora", "olga", "pia",
    "rosa", "tara", "vera", "yara", "zoe",
)  # fmt: skip
HIM = (
    "adam", "ben", "carlo", "dino", "emil", "finn", "hugo", "ivan", "jonas", "karim", "leo", "marek", "nils",
    "omar", "paul", "rafi", "tom", "yusuf",
)  # fmt: skip
PLACES = (
    "accra", "athens", "berlin", "bogota", "cairo", "dakar", "delhi", "dublin", "hanoi", "lagos", "lima",
    "lisbon", "madrid", "milan", "nairobi", "oslo", "paris", "prague", "quito", "riga", "rome", "seoul",
    "sofia", "tokyo", "tunis", "vienna",
)  # fmt: skip
DAYS = (
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
)  # fmt: skip


@dataclass(frozen=True)
class Deed:
    """A verb as past tense (*won*), participle (*won*), in a headline (*wins*) and infinitive, and its objects."""

    past: str
    participle: str
    headline: str
    infinitive: str
    things: tuple[str, ...]


DEEDS = (
    Deed("won", "won", "wins", "win", ("the chess cup", "the long race", "a golden medal", "a poetry prize")),
    Deed("opened", "opened", "opens", "open", ("a small bakery", "the new library", "a music school", "a toy museum")),
    Deed("found", "found", "finds", "find", ("a silver ring", "an old map", "a lost dog", "a rare stamp")),
    Deed("painted", "painted", "paints", "paint", ("a blue bridge", "the town hall", "a huge mural", "the old tower")),
    Deed("built", "built", "builds", "build", ("a tree house", "a sailing boat", "a snow castle", "a tiny robot")),
    Deed("wrote", "written", "writes", "write", ("a short opera", "a crime novel", "a travel guide", "a love song")),
)

PEOPLE = (*HER, *HIM)
THINGS = tuple((deed, what) for deed in DEEDS for what in deed.things)

# The summary needs {who}, {where} and {what}. {she} is the pronoun of {who}, {there} is another place.
DONE = (
    "{who} {past} {what} in {where} on {day} .",
    "on {day} {who} {past} {what} in {where} .",
    "in {where} , {who} {past} {what} .",
    "on {day} {what} was {participle} by {who} in {where} .",
    "{who} came to {where} on {day} . there , {she} {past} {what} .",
)
WHERE_UNTOLD = (
    "{who} {past} {what} on {day} .",
    "on {day} {what} was {participle} by {who} .",
    "on {day} {who} {past} {what} .",
)
MOVED = (
    "{who} moved from {there} to {where} on {day} .",
    "after ten years in {there} , {who} moved to {where} .",
    "on {day} {who} left {there} . {she} moved to {where} .",
)
# For each kind of news: its templates, its summary, and n if one in n items is of this kind (0: all others).
KINDS = (
    (DONE, "{who} {headline} {what} in {where}", 0),
    (WHERE_UNTOLD, "{who} {headline} {what}", 10),
    (MOVED, "{who} moves to {where}", 10),
)
# Sentences about other people, places and things.
ASIDES = (
    "{who} stayed at home in {where} .",
    "{who} from {where} was there , too .",
    "a year ago , {who} {past} {what} in {where} .",
    "{who} hopes to {infinitive} {what} in {where} next year .",
    "{who} , who lives in {where} , saw it all .",
    "it rained in {where} on {day} .",
)

PADDING, SEPARATOR, END = "<pad>", "<sep>", "<end>"


@dataclass(frozen=True)
class Item:
    """One news item: words and punctuation marks, separated by single spaces."""

    article: str
    summary: str


def items(train: int = TRAIN, held_out: int = HELD_OUT, seed: int = SEED) -> tuple[list[Item], list[Item]]:
    """The items for training and the held-out items, reproducible by `seed`.

    Raises `ValueError` if there are not as many different facts.
    """
    random = np.random.default_rng(seed)
    total = train + held_out
    rare = [total // one_in if one_in else 0 for *_, one_in in KINDS]
    facts = [
        (kind, *fact)
        for kind, count in enumerate([total - sum(rare), *rare[1:]])
        for fact in _facts(random, KINDS[kind][1], count)
    ]
    drawn = [_item(random, *facts[i]) for i in random.permutation(total)]
    return drawn[:train], drawn[train:]


def _facts(random: np.random.Generator, summary: str, count: int) -> list[tuple[int, int, int]]:
    """`count` triples of person, thing and place, no two of which have the same summary."""
    everything = (PEOPLE, THINGS, PLACES)
    fields = ("{who}", "{what}", "{where}")
    sizes = [len(of) if name in summary else 1 for of, name in zip(everything, fields, strict=True)]
    if count > np.prod(sizes):
        raise ValueError(f"there are {np.prod(sizes)} different facts for `{summary}`, not {count}")
    summarised = np.array(np.unravel_index(random.choice(np.prod(sizes), size=count, replace=False), sizes))
    free = np.array([random.integers(len(of), size=count) for of in everything])  # not part of the summary
    chosen = np.where(np.array(sizes)[:, np.newaxis] == 1, free, summarised)
    return [(person, thing, place) for person, thing, place in chosen.T.tolist()]


def _item(random: np.random.Generator, kind: int, person: int, thing: int, place: int) -> Item:
    """The item about this person, thing and place."""
    ways, summary, _ = KINDS[kind]
    people, things, places = (
        _others_after(random, *pair) for pair in ((PEOPLE, person), (THINGS, thing), (PLACES, place))
    )
    main = ways[random.integers(len(ways))]
    # Two to four sentences in all, so there is one aside fewer if the news itself takes two.
    asides = random.choice(len(ASIDES), size=random.integers(1, 4 if main.count(" .") == 1 else 3), replace=False)
    templates = [main, *(ASIDES[i] for i in asides)]
    there = PLACES[(place + 1 + random.integers(len(PLACES) - 1)) % len(PLACES)]
    sentences = [_fill(random, there, *facts) for facts in zip(templates, people, things, places, strict=False)]
    return Item(" ".join(random.permutation(sentences)), _fill(random, there, summary, people[0], things[0], places[0]))


def _others_after(random: np.random.Generator, choices: Sequence[Any], first: int) -> list[Any]:
    """The choice at `first`, then three others."""
    rest = [i for i in random.choice(len(choices), size=4, replace=False) if i != first]
    return [choices[i] for i in (first, *rest[:3])]


def _fill(
    random: np.random.Generator, there: str, template: str, who: str, deed_and_what: tuple[Deed, str], where: str
) -> str:
    deed, what = deed_and_what
    return template.format(
        who=who,
        she="she" if who in HER else "he",
        where=where,
        there=there,
        what=what,
        headline=deed.headline,
        past=deed.past,
        participle=deed.participle,
        infinitive=deed.infinitive,
        day=DAYS[random.integers(len(DAYS))],
    )


def _words() -> list[str]:
    """All words of the vocabulary: the three special tokens, then the others in alphabetical order."""
    texts: list[str] = [*ASIDES, *(text for ways, summary, _ in KINDS for text in (*ways, summary))]
    texts += [what for _, what in THINGS]
    texts += [form for deed in DEEDS for form in (deed.past, deed.participle, deed.headline, deed.infinitive)]
    plain = {word for text in texts for word in text.split() if "{" not in word}
    return [PADDING, SEPARATOR, END, *sorted(plain.union(PEOPLE, PLACES, DAYS, ["she", "he"]))]


WORDS = _words()
IDS = {word: number for number, word in enumerate(WORDS)}
PADDING_ID, SEPARATOR_ID, END_ID = IDS[PADDING], IDS[SEPARATOR], IDS[END]


def encode(text: str) -> list[int]:
    """The numbers of the words in `text`, which has blanks between words and punctuation marks.

    Raises `ValueError` for a word that no item has.
    """
    unknown = [word for word in text.split() if word not in IDS]
    if unknown:
        raise ValueError(f"the news has no word {', '.join(map(repr, unknown))}; news.WORDS holds all that it has")
    return [IDS[word] for word in text.split()]


def decode(token_ids: Iterable[int]) -> str:
    """The words behind `token_ids`."""
    return " ".join(WORDS[number] for number in token_ids)

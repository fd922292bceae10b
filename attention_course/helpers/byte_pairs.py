"""Byte-pair encoding (Sennrich et al. 2016), as assignment 5 does it in a few lines.

    merges = byte_pairs.learn(text, 1024)
    tokens = byte_pairs.Tokenizer(merges)
    tokens.decode(tokens.encode("She wants them.")) == "She wants them."

All text is ASCII, so a character is a byte. A token never crosses a word's end. A word begins with the space before it;
punctuation marks are separate.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

Pair = tuple[str, str]

ALPHABET = ("\n", *map(chr, range(32, 127)))
PIECE = re.compile(r" ?[A-Za-z]+| ?[^A-Za-z\s]+|\s")


def joined(tokens: Sequence[str], pair: Pair) -> list[str]:
    """The tokens with each occurrence of the pair, from left to right, merged into one token."""
    found: list[str] = []
    for token in tokens:
        if found and (found[-1], token) == pair:
            found[-1] += token
        else:
            found.append(token)
    return found


def learn(text: str, vocab_size: int, join: Callable[[Sequence[str], Pair], list[str]] = joined) -> list[Pair]:
    """The pairs to merge, in order, up to `vocab_size` tokens: each time the most frequent pair.

    join: merges each occurrence of a pair into one token
    """
    times = Counter(PIECE.findall(text))
    pieces = {piece: list(piece) for piece in times}
    pairs: Counter[Pair] = Counter()

    def count(piece: str, sign: int) -> None:
        tokens = pieces[piece]
        for pair in pairwise(tokens):
            pairs[pair] += sign * times[piece]

    for piece in pieces:
        count(piece, 1)
    merges: list[Pair] = []
    while len(ALPHABET) + len(merges) < vocab_size:
        best = max(pairs, key=lambda pair: (pairs[pair], pair))  # ties are broken by the alphabet
        merges.append(best)
        for piece in pieces:
            if "".join(best) in piece:
                count(piece, -1)
                pieces[piece] = join(pieces[piece], best)
                count(piece, 1)
    return merges


class Tokenizer:
    """Encodes a text as token ids, and decodes it. `tokens` has the text of each id."""

    def __init__(self, merges: Iterable[Pair]) -> None:
        self.merges = list(merges)
        self.tokens = [*ALPHABET, *("".join(pair) for pair in self.merges)]
        self._ids = {token: number for number, token in enumerate(self.tokens)}
        self._order = {pair: number for number, pair in enumerate(self.merges)}
        self._known: dict[str, list[int]] = {}

    def encode(self, text: str) -> list[int]:
        """The ids of the text's tokens. Raises `ValueError` for a character that is not ASCII."""
        unknown = sorted(set(text) - set(ALPHABET))
        if unknown:
            raise ValueError(f"there is no token for {', '.join(map(repr, unknown))}; plain ASCII has them all")
        return [number for piece in PIECE.findall(text) for number in self._piece(piece)]

    def decode(self, ids: Iterable[int]) -> str:
        """The text of these ids."""
        return "".join(self.tokens[number] for number in ids)

    def _piece(self, piece: str) -> list[int]:
        """The ids of a piece: merges apply in the order in which they were learned."""
        if piece not in self._known:
            tokens = list(piece)
            while fitting := set(pairwise(tokens)) & self._order.keys():
                tokens = joined(tokens, min(fitting, key=self._order.__getitem__))
            self._known[piece] = [self._ids[token] for token in tokens]
        return self._known[piece]

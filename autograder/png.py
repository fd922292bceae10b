"""Pictures as PNG, with only NumPy and zlib, for untrusted notebooks, where JupyterLab shows no SVG.

JupyterLab removes SVG from the HTML of a notebook that somebody else has run, but leaves the text in it. It also
removes styles that it does not understand. `with_fallback` uses that to show the PNG there, and the SVG elsewhere.
"""

from __future__ import annotations

import base64
import struct
import zlib
from html import escape

import numpy as np

# ASCII from the space to ~: five columns of eight dots for each character, with the lowest bit on top.
_FONT = bytes.fromhex(
    "00000000 0000005F 00000007 00070014 7F147F14 242A7F2A 12231308 64623649 56205000 05030000 001C2241"
    "00004122 1C002A1C 7F1C2A08 083E0808 00503000 00080808 08080060 60000020 10080402 3E514945 3E00427F"
    "40004261 51494621 41454B31 1814127F 10274545 45393C4A 49493001 71090503 36494949 36064949 291E0036"
    "36000000 56360000 00081422 41141414 14144122 14080002 01510906 3249793F 3E7E1111 117E7F49 4949363E"
    "41414122 7F41413E 007F4949 49417F09 0909013E 41497A00 7F080808 7F00417F 41002040 413F017F 08142241"
    "7F404040 407F020C 027F7F04 08107F3E 4141413E 7F090909 063E4151 215E7F09 19294646 49494931 01017F01"
    "013F4040 403F1F20 40201F3F 4038403F 63140814 63070870 08076151 49454300 7F414100 02040810 20004141"
    "7F000402 01020440 40404040 00010204 00205454 54787F48 44443838 44444420 38444448 7F385454 5418087E"
    "09010218 A4A4A47C 7F080404 7800447D 40008080 847D007F 10284400 00417F40 007C0418 04787C08 04047838"
    "44444438 FC242424 18182424 18FC7C08 04040848 54545420 043F4440 203C4040 207C1C20 40201C3C 4030403C"
    "44281028 441CA0A0 A07C4464 544C4400 08364100 00007F00 00004136 08001008 081008"
)
FIRST, LAST = 32, 126
WIDE, HIGH = 6, 8  # dots of a character, including the gap beside it
_OTHERS = str.maketrans({"·": ".", "−": "-", "“": '"', "”": '"', "’": "'", "→": ">"})  # the font is ASCII only
WHITE, BLACK, GREY = (255, 255, 255), (33, 33, 33), (190, 190, 190)

# Browsers understand custom properties; JupyterLab's sanitizer drops them and the rules that refer to them.
_AS_USUAL, _NOT_AT_ALL = "--d:inline;display:var(--d)", "--d:none;display:var(--d)"


class Raster:
    """An RGB picture on a white ground. Positions are columns and rows of dots, from the upper left."""

    def __init__(self, width: float, height: float) -> None:
        self.dots = np.full((max(1, round(height)), max(1, round(width)), 3), 255, dtype=np.uint8)

    def fill(self, x: float, y: float, width: float, height: float, colour: tuple[int, int, int]) -> None:
        """Draw a filled rectangle."""
        left, top = max(0, round(x)), max(0, round(y))
        self.dots[top : max(0, round(y + height)), left : max(0, round(x + width))] = colour

    def frame(self, x: float, y: float, side: float, colour: tuple[int, int, int], thick: int) -> None:
        """Draw the four edges of a square."""
        for left, top, width, height in (
            (x, y, side, thick),
            (x, y + side - thick, side, thick),
            (x, y, thick, side),
            (x + side - thick, y, thick, side),
        ):
            self.fill(left, top, width, height, colour)

    def text(self, x: float, y: float, words: str, size: int = 2, up: bool = False) -> None:
        """Draw `words` with their upper left corner there; `up`: from bottom to top."""
        inked = letters(words)
        inked = np.rot90(inked) if up else inked
        inked = inked.repeat(size, axis=0).repeat(size, axis=1)
        left, top = max(0, round(x)), max(0, round(y))
        part = self.dots[top : top + inked.shape[0], left : left + inked.shape[1]]
        part[inked[: part.shape[0], : part.shape[1]]] = BLACK

    def png(self) -> bytes:
        """The picture as the bytes of a PNG file."""
        height, width, _ = self.dots.shape
        rows = np.concatenate([np.zeros((height, 1), np.uint8), self.dots.reshape(height, -1)], axis=1)  # no filter
        head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)  # 8 bits, red, green and blue
        parts = ((b"IHDR", head), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b""))
        return b"\x89PNG\r\n\x1a\n" + b"".join(
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
            for kind, data in parts
        )


def letters(words: str) -> np.ndarray:
    """True where `words` have ink, (HIGH, WIDE * len(words)). Characters outside ASCII become question marks."""
    codes = [ord(c) if FIRST <= ord(c) <= LAST else ord("?") for c in words.translate(_OTHERS)]
    columns = np.zeros((len(codes), WIDE), np.uint8)
    for row, code in enumerate(codes):
        columns[row, :5] = np.frombuffer(_FONT, np.uint8, 5, 5 * (code - FIRST))
    inked: np.ndarray = (columns.reshape(-1) >> np.arange(HIGH)[:, np.newaxis]) & 1 == 1
    return inked


def blend(colour: str, share: float) -> tuple[int, int, int]:
    """A colour `#rrggbb` on white, with opacity `share`."""
    part = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)])
    red, green, blue = (255 + (part - 255) * share).round().astype(int).tolist()
    return red, green, blue


def with_fallback(svg: str, picture: bytes, aloud: str, width: float) -> str:
    """HTML that shows `svg`, or the PNG `picture` where SVG is removed. `aloud` describes the picture."""
    data = base64.b64encode(picture).decode()
    hidden = f"{_NOT_AT_ALL};min-width:0;max-width:100%"
    return (
        f'<span hidden="hidden" style="{_AS_USUAL};min-width:0">{svg}</span>'
        f'<img alt="{escape(aloud)}" width="{width:.0f}" style="{hidden}" src="data:image/png;base64,{data}">'
    )

"""Hidden tests of TransformerDecoder."""

import math

import numpy as np
import pytest

from autograder.testing import Raised, expect

from ...hidden.inputs import normal, tensor
from ...hidden.modules import (
    Module,
    answer_alone,
    expect_parameters,
    gradients_reach,
    keeps_nothing,
    same_each_time,
    same_in_training,
    with_any_weights,
)
from ...hidden.modules_as_made import begins_well
from ...hidden.properties import responds
from ..shared_hidden_tests import (
    ATOL,
    ATTENTION_MATRICES,
    ATTENTION_SILENT,
    BY_NAME,
    FEED_FORWARD_MATRICES,
    FEED_FORWARD_SILENT,
    KEPT,
    block_weights,
    silent,
    with_padding,
)


def decoder_weights(seed, vocab_size=11, d_model=12, num_heads=3, d_ff=48, num_layers=2):
    """Weights of a whole decoder by name. Scaled embeddings are about as large as the positions."""
    found = {"embedding.weight": normal(seed, vocab_size, d_model) / math.sqrt(d_model)}
    for layer in range(num_layers):
        found |= block_weights(seed + 20 * (layer + 1), d_model, num_heads, d_ff, f"blocks.{layer}.")
    found |= {"norm.weight": 1 + 0.4 * normal(seed + 1, d_model), "norm.bias": 0.4 * normal(seed + 2, d_model)}
    found["output.weight"] = normal(seed + 3, vocab_size, d_model) / math.sqrt(d_model)
    return found | {"output.bias": 0.5 * normal(seed + 4, vocab_size)}


@pytest.mark.exercise("TransformerDecoder")
class TestTransformerDecoder:
    SIZES = (11, 12, 3, 48, 2, 9)  # vocab_size, d_model, num_heads, d_ff, num_layers, max_length
    IDS = np.array([[3, 7, 0, 6, 7, 2], [5, 1, 9, 4, 0, 8]])  # (2, 6); the last word of the vocabulary is asked once
    # A seed, sizes, texts and tokens. The first also runs in `train()`, the third has no padding
    # d_ff is never d_model: where layers have other names, their shapes tell which is which
    REAL = (
        (1310, (19, 96, 3, 7, 1, 70), (1, 69)),
        (1410, (64, 15, 5, 5, 1, 16), (2, 16)),
        (1510, (33, 32, 8, 16, 4, 72), (2, 70)),
        (1610, (301, 4, 2, 3, 12, 9), (1, 8)),
        (1810, (5, 2, 1, 1, 1, 257), (1, 257)),
    )
    # Nothing but positions: attention would take too much memory for so many
    MANY_PLACES = (5, 4, 1, 3, 0, 5003)
    WEIGHTS = decoder_weights(610)
    PADDING = np.array([[0, 1, 1, 1, 1, 1], [0, 0, 1, 0, 1, 1]], dtype=bool)[:, np.newaxis]  # (2, 1, 6)

    def decoder(self, student, *sizes):
        """The student's decoder. Positions that start random are zero, so they cost as much as missing ones."""
        sizes = sizes or self.SIZES
        ids = np.zeros((1, 1), dtype=np.int64)
        return Module(student.TransformerDecoder, *sizes).with_extras_settled(decoder_weights(0, *sizes[:5]), ids)

    def logits(self, decoder, ids=IDS, weights=WEIGHTS, dtype=np.float32, padding=None):
        """The logits: one row for each place, one column for each word of the vocabulary."""
        got = self.answer(decoder, ids, weights, dtype, padding)
        hint = "One row of logits for each place, also for those before the last."
        expect.shape(got, (*ids.shape, weights["output.bias"].size), hint, "the output")
        return got

    def answer(self, decoder, ids=IDS, weights=WEIGHTS, dtype=None, padding=None):
        """The logits with an axis of places. The model may give them for the last place only.

        Without a `dtype`, a model that cannot work in float32 runs in float64: values and dtype have other tests.
        """
        more = () if padding is None else (padding,)
        given = np.ascontiguousarray(ids)
        try:
            got = decoder.value(weights, given, *more, dtype=dtype or np.float32)
        except Raised:
            if dtype is not None:
                raise
            got = decoder.value(weights, given, *more, dtype=np.float64)
        if got.ndim == 2 and len(got) == len(ids):
            got = got[:, np.newaxis]
        if got.ndim != 3:
            expect.shape(got, (*ids.shape, weights["output.bias"].size), what="the output")
        return got

    def looks_like_decoder(self, decoder, dtype=None):
        """Fails unless places influence each other: another token 2 changes the logits somewhere else."""
        ids = self.IDS.copy()
        ids[:, 2] = (ids[:, 2] + 1) % 11
        first, other = (self.answer(decoder, given, dtype=dtype) for given in (self.IDS, ids))
        rest = [place for place in range(first.shape[1]) if place != 2]
        what = "when token 2 changes, the output at the other places"
        expect.differs(other[:, rest], first[:, rest], "Are the blocks used?", what)
        return first

    def last(self, decoder, ids):
        """The logits of the last place. The model may give no others."""
        got = decoder.value(self.WEIGHTS, ids, dtype=np.float64)
        return got[:, -1] if got.ndim == 3 else got

    def compare(self, student, reference, seed, sizes, names, hint):
        """Fails unless the logits, with zeros in the layers `names`, are the reference's."""
        weights = silent(decoder_weights(seed, *sizes[:5]), *names)
        ids = np.random.default_rng(seed).integers(0, sizes[0] - 1, size=(2, 6))
        wanted = Module(reference.TransformerDecoder, *sizes).value(weights, ids, dtype=np.float64)
        got = self.logits(self.decoder(student, *sizes), ids, weights)
        expect.close(got, wanted, hint, "the output", ATOL)

    @pytest.mark.weight(0.24)
    def test_shape(self, student):
        """Two texts of six tokens and a vocabulary of eleven give logits of shape (2, 6, 11)."""
        got = with_any_weights(self.decoder(student), self.WEIGHTS, self.IDS)
        expect.shape(expect.tensor(got), (2, 6, 11), "One row of logits for each place, also before the last.")

    @pytest.mark.weight(0.4)
    def test_parameters(self, student):
        """Each block has weights of its own, positions are not learnt: all parameters are counted."""
        decoder = self.decoder(student)
        other = np.where(np.arange(6) == 2, (self.IDS + 1) % 11, self.IDS)
        responds(lambda ids: self.last(decoder, ids), [self.IDS], [other], ["token 2, at the last place"])
        decoder.expect_names(self.WEIGHTS)
        hint = "Count by hand, part by part, as in the table: which part has more or fewer than you expect?"
        for sizes in (self.SIZES, (13, 8, 2, 30, 3, 20)):
            expect_parameters(student.TransformerDecoder.build(*sizes), decoder_weights(0, *sizes[:5]), hint)

    @pytest.mark.weight(0.95)
    def test_before_and_after_the_blocks(self, student, reference):
        """With silent blocks: the scaled embedding plus the position, then the last norm and the output layer."""
        hint = "Follow token 3 at place 2: which row, times what, plus which row? And what happens after the blocks?"
        names = (*ATTENTION_SILENT, *FEED_FORWARD_SILENT)
        self.compare(student, reference, 700, (13, 8, 2, 30, 1, 7), names, hint)

    @pytest.mark.weight(0.85)
    def test_values(self, student, reference):
        """The logits of the whole stack, here of three blocks."""
        hint = "With silent blocks another test judges the rest. Does each block get what the one before gave?"
        self.compare(student, reference, 800, (13, 12, 3, 48, 3, 7), (), hint)

    @pytest.mark.weight(0.6)
    def test_real_sizes(self, student, reference):
        """70 tokens, 257, eight heads, or twelve blocks, also with padding; in `train()` it does as in `eval()`."""
        hint = expect.IfOthersPass(
            "With six tokens and three blocks other tests judge this. Is there a size in your code as a number?"
        )
        for number, (seed, sizes, (texts, length)) in enumerate(self.REAL):
            weights = self.real_weights(seed, sizes)
            ids = np.random.default_rng(seed).integers(0, sizes[0], size=(texts, length))
            ids[0, 1] = sizes[0] - 1
            args = (ids,) if number == 2 else (ids, with_padding(texts, length))
            decoder = self.decoder(student, *sizes)
            if not number:
                same_in_training(decoder, weights, *args)
            wanted = Module(reference.TransformerDecoder, *sizes).value(weights, *args)
            what = f"the output for {length} tokens and {sizes[4]} blocks"
            expect.close(decoder.value(weights, *args), wanted, hint, what, ATOL)
        self.compare_many_places(student, reference)

    @staticmethod
    def real_weights(seed, sizes):
        """Weights with words so large that the norms' eps, which has a test of its own, does not matter."""
        found = decoder_weights(seed, *sizes[:5])
        return found | {"embedding.weight": 4 * found["embedding.weight"]}

    def compare_many_places(self, student, reference):
        """Fails unless position 5,002 is right, too. Code that needs a block is not asked."""
        sizes = self.MANY_PLACES
        weights, decoder = self.real_weights(1910, sizes), self.decoder(student, *sizes)
        ids = np.arange(sizes[5])[np.newaxis] % 5
        if answer_alone(decoder, weights, [ids[:, :3]]) is not None:
            wanted = Module(reference.TransformerDecoder, *sizes).value(weights, ids)
            hint = "How many rows has your table of positions, and which size says how many?"
            expect.close(decoder.value(weights, ids), wanted, hint, f"the output for {sizes[5]} tokens", ATOL)

    @pytest.mark.weight(0.2)
    def test_eps(self, student, reference):
        """The last norm's eps is that of `nn.LayerNorm`, if nothing else is said."""
        decoder = self.decoder(student)
        self.looks_like_decoder(decoder)
        # What is left of position 0 (sines and cosines of 0) has a variance of 1e-4, ten times eps.
        words = (0.01 * normal(651, 11, 12) - np.arange(12) % 2) / math.sqrt(12)
        weights = silent(self.WEIGHTS, *ATTENTION_SILENT, *FEED_FORWARD_SILENT) | {"embedding.weight": words}
        if expect.holds(lambda: self.test_before_and_after_the_blocks(student, reference)):  # otherwise that test fails
            ids = self.IDS[:, :1]
            wanted = Module(reference.TransformerDecoder, *self.SIZES).value(weights, ids, dtype=np.float64)
            got = self.answer(decoder, ids, weights, np.float64)
            hint = "Which eps has your last norm, and who chose it?"
            expect.close(got, wanted, hint, "for embeddings that all but cancel position 0, the output", ATOL)

    @pytest.mark.weight(0.25)
    def test_logits(self, student):
        """Logits as they are: what is added to the output layer's bias is added to them."""
        decoder = self.decoder(student)
        first = self.looks_like_decoder(decoder)
        weights = dict(self.WEIGHTS)
        weights["output.bias"] = weights["output.bias"] + 3 * normal(621, 11)
        hint = "What happens to the numbers after the output layer, and who will do that later?"
        expect.close(self.answer(decoder, weights=weights), first + 3 * normal(621, 11), hint, "the output", ATOL)

    @pytest.mark.weight(0.45)
    def test_causal(self, student):
        """Through the whole stack, no place hears from a later token; each hears from itself and from earlier ones."""
        decoder = self.decoder(student)
        first = self.looks_like_decoder(decoder)
        for place in (2, 5):
            ids = self.IDS.copy()
            ids[:, place] = (ids[:, place] + 3) % 11
            got = self.answer(decoder, ids)
            expect.shape(got, (2, 6, 11), "One row of logits for each place, also for those before the last.")
            hint = f"Token {place} was changed. Through which block could that reach an earlier place?"
            expect.close(got[:, :place], first[:, :place], hint, "the logits of the places before", ATOL)
            hint = "Does the text reach the logits through every block?"
            expect.differs(got[:, 5], first[:, 5], hint, f"when token {place} changes, the last place's output")

    @pytest.mark.weight(0.37)
    def test_padding(self, student):
        """What stands on padding moves no logits of a real token, through no block."""
        decoder = self.decoder(student)
        free = self.looks_like_decoder(decoder)
        got = self.answer(decoder, padding=self.PADDING)
        hint = "Which of the blocks get the padding?"
        expect.finite(got, hint, "the output")
        expect.differs(got, free, hint, "with padding, the output")
        real = np.broadcast_to(self.PADDING[:, 0, -got.shape[1] :, np.newaxis], got.shape)
        other = self.answer(decoder, np.where(self.PADDING[:, 0], self.IDS, (self.IDS + 4) % 11), padding=self.PADDING)
        what = "when tokens on padding change, the logits of real tokens"
        expect.close(np.where(real, other, 0), np.where(real, got, 0), hint, what, ATOL)

    @pytest.mark.weight(0.3)
    def test_padding_values(self, student, reference):
        """With padding, real tokens get the logits that they should."""
        hint = "padding hides keys in the attention of every block. Does it change anything else?"
        weights, ids = decoder_weights(1000), self.IDS
        module = Module(reference.TransformerDecoder, *self.SIZES)
        wanted = module.value(weights, ids, self.PADDING, dtype=np.float64)
        got = self.logits(self.decoder(student), ids, weights, padding=self.PADDING)
        real = self.PADDING[:, 0]
        expect.close(got[real], wanted[real], hint, "the logits of real tokens", ATOL)

    @pytest.mark.weight(0.27)
    def test_lengths(self, student):
        """Any length up to max_length, even one token: a text's beginning has the logits it has in the whole."""
        self.looks_like_decoder(self.decoder(student))
        sizes = (5, 6, 3, 7, 2, 9)  # max_length is the largest, so that no other size can replace it
        decoder, weights = self.decoder(student, *sizes), decoder_weights(640, *sizes[:5])
        ids = np.random.default_rng(641).integers(0, 5, size=(2, 9))  # the longest text allowed
        whole = self.answer(decoder, ids, weights)
        expect.shape(whole, (2, 9, 5), "How many positions does the model know?", "the output")
        hint = "Which rows of the positional encoding does a shorter text get?"
        for length in (4, 1):
            got = self.answer(decoder, ids[:, :length], weights)
            expect.close(got, whole[:, :length], hint, f"the logits of the first {length} tokens", ATOL)

    @pytest.mark.weight(0.2)
    def test_as_made(self, student):
        """As it is made, it can learn: in float32, with numbers of ordinary size, and no head like another."""
        self.looks_like_decoder(self.decoder(student))
        sizes = (11, 12, 6, 20, 1, 9)
        names = [[f"blocks.0.{name}" for name in names] for names in (ATTENTION_MATRICES, FEED_FORWARD_MATRICES)]
        seed = tensor(normal(661, 2, 6, 11).astype(np.float32))
        module = Module(student.TransformerDecoder, *sizes)
        begins_well(module, decoder_weights(0, *sizes[:5]), tensor(self.IDS), seed, 6, names, "output.weight")

    @pytest.mark.weight(0.16)
    def test_batch(self, student):
        """Each text of a batch is on its own, and so is each call."""
        decoder = self.decoder(student)
        first = self.looks_like_decoder(decoder)
        hint = "Along which axis do positions run?"
        got = self.answer(decoder, self.IDS[1:])
        expect.close(got[0], first[1], hint, "the output of the second text alone", ATOL)
        keeps_nothing(decoder, self.WEIGHTS, self.IDS, self.PADDING, KEPT)

    @pytest.mark.weight(0.35)
    def test_gradients(self, student):
        """Gradients reach every parameter, from the output layer to the embedding."""
        decoder = self.decoder(student)
        self.looks_like_decoder(decoder, np.float64)
        hint = "Is there a .detach(), .data, .numpy() or torch.no_grad() on the way, or a layer that is not used?"
        gradients_reach(decoder, self.WEIGHTS, [self.IDS], normal(631, 2, 6, 11), hint)

    @pytest.mark.weight(0.21)
    def test_dtype(self, student):
        """A float32 model gives float32 logits, a float64 model float64."""
        decoder = self.decoder(student)
        same_each_time(self.looks_like_decoder(decoder), self.answer(decoder))
        for dtype in (np.float32, np.float64):
            hint = "Which dtype has what you make yourself: the scale, the positions?"
            expect.dtype(self.answer(decoder, dtype=dtype), dtype, hint, "the output")

    @pytest.mark.weight(0.2)
    def test_arguments(self, student):
        """Arguments may come by keyword or by position and with any layout in memory, and are not changed."""
        decoder = self.decoder(student)
        self.looks_like_decoder(decoder)
        names = ("max_length", "num_layers", "d_ff", "num_heads", "d_model", "vocab_size")
        options = dict(zip(names, reversed(self.SIZES), strict=True))
        plain = self.answer(decoder, padding=self.PADDING)
        dtype = plain.dtype  # float32, if the model works in it
        parameters = decoder.named(self.WEIGHTS, dtype)
        turned, padding = tensor(np.ascontiguousarray(self.IDS.T)).T, tensor(self.PADDING)
        module = student.TransformerDecoder
        named = {"padding": padding, "token_ids": turned}
        by_name = module.run((), parameters, options=options, training=False, **named)
        hint = "Is memory read in the order of the axes?"
        expect.close(expect.tensor(by_name.value).reshape(plain.shape), plain, hint, "output", ATOL)
        by_place = decoder.run(self.WEIGHTS, self.IDS, self.PADDING, dtype=dtype)
        expect.close(expect.tensor(by_place.value).reshape(plain.shape), plain, BY_NAME, "output", ATOL)
        hint = "Look for operators like += or functions that end in an underscore on an argument."
        expect.unchanged(by_place.after, [tensor(self.IDS), padding], ["token_ids", "padding"], hint)

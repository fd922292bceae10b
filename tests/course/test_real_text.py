"""The novel, its tokens, the small decoder trained on it, and what the notebooks do and claim with them."""

from __future__ import annotations

import re

import nbformat
import numpy as np
import pytest
import torch

from attention_course.helpers import byte_pairs, novel, trained_decoder
from autograder import highlight, loss_curve
from tests.helpers.in_process import ASSIGNMENTS
from tools import trained_decoder as training_tool

A2, A3, A4, A5, A6 = (next(a for a in ASSIGNMENTS if a.name.startswith(f"a{number}_")) for number in range(2, 7))
SENTENCE = "Elizabeth smiled at Mr. Darcy."


def cells(assignment):
    """The source notebook's cells by id."""
    return {cell["id"]: cell["source"] for cell in nbformat.read(assignment.notebook, as_version=4).cells}


# ---------------------------------------------------------------- the novel


def test_novel_is_long_ascii_and_in_the_public_domain():
    text, held_out = novel.text()
    assert len(text) + len(held_out) > 300_000
    assert (text + held_out).isascii()
    assert text.startswith("It is a truth universally acknowledged, that a single man")
    assert held_out.endswith("had been the means of uniting them.\n")
    assert 0.09 < len(held_out) / len(text + held_out) < 0.11
    assert not re.search("gutenberg|copyright|chapter \\d", text + held_out, re.IGNORECASE)
    assert "public domain" in (novel.FILE.parent / "novel.LICENCE.md").read_text(encoding="utf-8")


# ---------------------------------------------------------------- tokens


def test_byte_pairs_of_the_notebooks_example():
    merges = byte_pairs.learn("the then they", len(byte_pairs.ALPHABET) + 2)
    assert merges == [("t", "h"), ("th", "e")]
    tokens = byte_pairs.Tokenizer(merges)
    assert [tokens.tokens[number] for number in tokens.encode("they")] == ["the", "y"]


# ---------------------------------------------------------------- the trained decoder


def test_low_temperature_repeats_itself_as_a6_says():
    names = dict(vars(A6.reference())) | {"grading": True}
    source = cells(A6)["drawn-novel"].replace("if not grading:", "if True:").partition("    settings = ")[0]
    exec(source, names)
    repetitive, livelier = (names["drawn_prose"]('"My dear Mr. Bennet,"', 0, temperature=t) for t in (0.1, 1.0))
    assert repetitive.count("I am sure") > 5
    assert "I am sure" not in livelier


@pytest.fixture(scope="module")
def own():
    """The decoder of assignment 5 with the trained weights."""
    model = A5.reference().TransformerDecoder(**trained_decoder.SIZES)
    model.load_state_dict({name: torch.tensor(array) for name, array in trained_decoder.weights().items()})
    return model


def test_trained_decoder_equals_the_decoder_of_a5(own):
    reading = trained_decoder.read(SENTENCE)
    with torch.no_grad():
        logits = own(torch.tensor(reading.ids[None]))[0].numpy()
    np.testing.assert_allclose(reading.logits, logits, atol=3e-5)  # float32; positions in float16 would be off by 6e-4
    probabilities = torch.softmax(torch.tensor(logits[-1]), dim=-1)
    token, probability = reading.next_tokens()[0]
    assert token == trained_decoder.tokenizer().tokens[int(probabilities.argmax())]
    assert probability == pytest.approx(float(probabilities.max()), rel=1e-4)
    wanted = torch.nn.functional.cross_entropy(torch.tensor(logits[:-1]), torch.tensor(reading.ids[1:]))
    assert reading.loss() == pytest.approx(float(wanted), rel=1e-4)


def test_students_attention_replaces_pytorchs():
    ready_made, mine = (trained_decoder.read(SENTENCE, way) for way in (None, A2.reference().causal_attention))
    np.testing.assert_allclose(mine.weights, ready_made.weights, atol=1e-5)
    np.testing.assert_allclose(mine.logits, ready_made.logits, atol=1e-4)
    L = len(mine.tokens)
    assert mine.weights.shape == (3, 4, L, L)
    assert len(trained_decoder.NAMES) == 12
    with pytest.raises(ValueError, match=r"\(4, 1, 1\)"):
        trained_decoder.read(SENTENCE, lambda Q, K, V: (V, np.ones((4, 1, 1))))


def test_students_layers_replace_its_attention():
    own = [A4.reference().MultiHeadAttention(96, 4) for _ in range(trained_decoder.NUM_LAYERS)]
    for number, layer in enumerate(own):
        weights = trained_decoder.layer_weights(number)
        layer.load_state_dict({name: torch.tensor(array) for name, array in weights.items()})
    plain, mine = trained_decoder.read(SENTENCE), trained_decoder.read(SENTENCE, layers=own)
    np.testing.assert_allclose(mine.weights, plain.weights, atol=1e-5)
    np.testing.assert_allclose(mine.logits, plain.logits, atol=1e-4)
    with pytest.raises(ValueError, match=r"gave output and weights of \(1,\)"):
        trained_decoder.read(SENTENCE, layers=3 * [lambda x, mask: (np.ones(1), np.ones(1))])


def test_text_of_wrong_length_raises():
    for text in ("", "word " * 65):
        with pytest.raises(ValueError, match="from 1 to 64"):
            trained_decoder.read(text)


@pytest.mark.slow
def test_command_trains_and_writes_such_a_file(tmp_path, capsys):
    """Two steps, from the same seed."""
    tokens = trained_decoder.tokenizer()
    ids = torch.tensor(tokens.encode(novel.text()[1]))
    threads = torch.get_num_threads()
    try:
        model = training_tool.train(ids, ids[:640], steps=2)
    finally:
        torch.set_num_threads(threads)
    training_tool.write(model, tokens, tmp_path / "made.safetensors")
    assert "step    0   loss 7." in capsys.readouterr().out
    made, kept = (
        trained_decoder.read_safetensors(path.read_bytes())
        for path in (tmp_path / "made.safetensors", trained_decoder.FILE)
    )
    assert {name: array.shape for name, array in made.items()} == {name: array.shape for name, array in kept.items()}


# ---------------------------------------------------------------- claims of the notebooks


def test_darcy_is_likeliest_after_mr_as_a2_says():
    code, names = cells(A2)["trained-model-code"], {"causal_attention": A2.reference().causal_attention}
    exec(code, names)
    likeliest = [token.strip() for token, _ in names["reading"].next_tokens(4)]
    assert likeliest[0] == "Darcy"
    assert set(likeliest) <= {"Darcy", "Wickham", "Collins", "Bingley", "Bennet", "Gardiner"}


def test_head_attends_to_the_speaker_as_a2_says():
    names = {"causal_attention": A2.reference().causal_attention, "trained_decoder": trained_decoder}
    names["highlight"] = highlight
    exec(cells(A2)["trained-head-code"], names)
    reading = names["reading"]
    spoken = np.array([token in {"You", "I", "your", "my"} for token in reading.tokens])
    assert (spoken.sum(), len(spoken)) == (4, 31)
    assert reading.weights[1, 0, -1, spoken].sum() == pytest.approx(0.48, abs=0.03)
    assert reading.next_tokens(1)[0][0] == " you"


def test_wrong_cut_costs_what_a3_says(capsys):
    names = dict(vars(A3.reference()))
    for cell in ("wrong-cut-code", "wrong-cut-surprise"):
        exec(cells(A3)[cell], names)
    right, wrong, *surprises = capsys.readouterr().out.splitlines()
    assert all(name in right for name in ("Darcy", "Wickham", "Collins"))
    assert not any(name in wrong for name in ("Darcy", "Wickham", "Collins", "Bingley"))
    own, reshaped, without = (float(line.split()[-1]) for line in surprises)
    assert own < without - 0.5
    assert reshaped > without


def test_puzzle_of_a3_accepts_only_the_right_head(capsys):
    a3, names = cells(A3), dict(vars(A3.reference()))
    exec(a3["wrong-cut-code"], names)
    exec(a3["puzzle-picture"], names)
    reading = names["reading"]
    marks = np.array(['"' in token for token in reading.tokens])
    on_marks = reading.weights[:, :, -1][..., marks].sum(axis=-1)
    assert on_marks.argmax() == 9  # layer 2, head 1
    assert np.sort(on_marks.ravel())[-3:] == pytest.approx([0.17, 0.43, 0.48], abs=0.03)
    for guess, verdict in (
        ("None", "write down your guess"),
        ("(2, 1)", "That is the one"),
        ("(2, 2)", "Heads that give them more: 3 of twelve"),
    ):
        exec(a3["puzzle-guess"].replace("guess = None", f"guess = {guess}"), names)
        assert verdict in capsys.readouterr().out


def test_decoder_of_a5_writes_words_once_it_has_learned_numbers(capsys):
    names = dict(vars(A5.reference())) | {"grading": False, "brought": lambda: True}
    exec(cells(A5)["it-speaks-code"], names)
    written = capsys.readouterr().out.removeprefix("random numbers:").split("learned numbers:")
    known = set(re.findall("[a-z]+", novel.text()[0].lower()))
    noise, learned = (np.mean([word in known for word in re.findall("[a-z]+", text.lower())]) for text in written)
    assert noise < 0.8
    assert learned > 0.9


# ---------------------------------------------------------------- training in a5


@pytest.fixture(scope="module")
def notebook():
    """The names that the cells of a5 define, up to the tokens of the novel."""
    names = dict(vars(A5.reference())) | {"grading": False, "display": lambda shown: None, "loss_curve": loss_curve}
    names |= {"trained_decoder": trained_decoder, "np": np, "brought": lambda: False}
    for cell in ("it-speaks-code", "real-text-code", "byte-pairs-code", "byte-pairs-learn", "byte-pairs-encode"):
        exec(cells(A5)[cell], names)
    return names


@pytest.mark.slow
def test_notebook_computes_the_trained_decoders_tokens(notebook):
    tokens = trained_decoder.tokenizer()
    assert notebook["merges"] == tokens.merges
    assert notebook["tokens"] == tokens.tokens
    for text in (novel.text()[1][:20_000], "A transformer unscrewed 17 jars."):
        assert notebook["encode"](text) == tokens.encode(text)
        assert notebook["decode"](notebook["encode"](text)) == text


@pytest.mark.slow
@pytest.mark.catalogue
def test_training_on_the_novel_starts_or_waits_for_the_exercises(notebook, capsys):
    """A fiftieth of the training; `make catalogue` tests all of it."""
    names = trained_by(notebook, steps=18)
    assert names["losses"][0] == pytest.approx(np.log(1024), abs=0.4)
    assert names["losses"][-1] < names["losses"][0] - 0.3
    written = names["write"](names["trained"], "Elizabeth", length=10, seed=1)
    assert written.startswith("Elizabeth")
    assert names["write"](names["trained"], "Elizabeth", length=10, seed=1) == written

    def unwritten(**sizes):
        raise NotImplementedError

    capsys.readouterr()
    names = trained_by(notebook | {"TransformerDecoder": unwritten}, steps=18)
    assert names["trained"] is None
    assert capsys.readouterr().out.count("Nothing to train yet") == 1


def trained_by(names, steps):
    """The names after the cells that train, write text, and load the trained weights."""
    names = dict(names)
    threads = torch.get_num_threads()
    try:
        source = cells(A5)["training-code"].replace("STEPS, BATCH, L = 900", f"STEPS, BATCH, L = {steps}")
        after = ("training-run", "writing-likely", "writing-code", "trained-decoder-code")
        for code in (cells(A5)["training-ready"], source, *map(cells(A5).get, after)):
            exec(code, names)
    finally:
        torch.set_num_threads(threads)
    return names


@pytest.mark.slow
@pytest.mark.catalogue
def test_students_decoder_writes_after_two_minutes(notebook, capsys):
    """All of the training, in processor time."""
    import time

    begun = time.process_time()
    names = trained_by(notebook, steps=900)
    assert time.process_time() - begun < 120
    held_out = float(re.search(r"held out: loss (\d\.\d\d)", capsys.readouterr().out)[1])
    assert held_out < 3.8
    written = names["write"](names["trained"], "Elizabeth", length=80, seed=0)
    known = set(re.findall("[a-z]+", novel.text()[0].lower()))
    words = re.findall("[a-z]+", written.lower())
    assert np.mean([word in known for word in words]) > 0.8

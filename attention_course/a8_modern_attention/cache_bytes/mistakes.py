"""Known mistakes of cache_bytes."""

from autograder.testing import Catalogue

mistake = Catalogue()


@mistake("weights-kept", hint="Is it keys and values that are kept, or the table of who attends to whom?")
def cache_bytes(num_layers, num_kv_heads, d_head, length, bytes_per_number=2):
    return 2 * num_layers * num_kv_heads * d_head * length * length * bytes_per_number


@mistake("bits-made-bytes", hint="Is bytes_per_number a count of bits?")
def cache_bytes(num_layers, num_kv_heads, d_head, length, bytes_per_number=2):
    return 2 * num_layers * num_kv_heads * d_head * length * bytes_per_number // 8


@mistake("always-two-bytes", hint="A caller may ask for float32. Does yours listen?")
def cache_bytes(num_layers, num_kv_heads, d_head, length, bytes_per_number=2):
    return 4 * num_layers * num_kv_heads * d_head * length


@mistake("four-bytes-at-first", hint="How many bytes does the first line of the stub give a number?")
def cache_bytes(num_layers, num_kv_heads, d_head, length, bytes_per_number=4):
    return 2 * num_layers * num_kv_heads * d_head * length * bytes_per_number


@mistake("layers-added", hint="With twice the layers, is the cache twice as large?")
def cache_bytes(num_layers, num_kv_heads, d_head, length, bytes_per_number=2):
    return (num_layers + 2 * num_kv_heads * d_head * length) * bytes_per_number


@mistake("a-float", hint="Is there a half of a byte anywhere? Which type has a count?")
def cache_bytes(num_layers, num_kv_heads, d_head, length, bytes_per_number=2):
    return 2.0 * num_layers * num_kv_heads * d_head * length * bytes_per_number


def _counting(
    numbers=lambda layers, heads, d, length: layers * heads * d * length,
    factor=2,
    size=lambda bytes_per_number: bytes_per_number,
    end=int,
):
    """`cache_bytes`. Each decision is an option."""

    def cache_bytes(num_layers, num_kv_heads, d_head, length, bytes_per_number=2):
        return end(factor * numbers(num_layers, num_kv_heads, d_head, length) * size(bytes_per_number))

    return cache_bytes


@mistake.mutants(
    {
        "keys-only": mistake.known({"factor": 1}, hint="What is kept of a word beside its key?"),
        "queries-too": mistake.known(
            {"factor": 3}, hint="Of queries, keys and values: which are needed again when the next word is written?"
        ),
        "one-layer": mistake.known(
            {"numbers": lambda layers, heads, d, length: heads * d * length},
            hint="Does each layer have keys of its own?",
        ),
        "one-head": mistake.known(
            {"numbers": lambda layers, heads, d, length: layers * d * length},
            hint="Does each head of keys and values keep its own?",
        ),
        "one-number-a-key": mistake.known(
            {"numbers": lambda layers, heads, d, length: layers * heads * length}, hint="How many numbers is a key?"
        ),
        "one-word": mistake.known(
            {"numbers": lambda layers, heads, d, length: layers * heads * d},
            hint="Of how many words are keys and values kept?",
        ),
        "weights-kept": [{"numbers": lambda layers, heads, d, length: layers * heads * length**2}],
        "caches-of-all-steps": mistake.mutant(
            {"numbers": lambda layers, heads, d, length: layers * heads * d * length * (length + 1) // 2},
            {"numbers": lambda layers, heads, d, length: layers * heads * d * length * (length - 1) // 2},
            {"numbers": lambda layers, heads, d, length: layers * heads * d * length**2},
            hint="After the last word, how many caches are there: one, or one from each step?",
        ),
        "one-word-more": mistake.mutant(
            {"numbers": lambda layers, heads, d, length: layers * heads * d * (length + 1)},
            hint="Try one word. How many keys are kept of it in each head?",
        ),
        "one-word-less": mistake.mutant(
            {"numbers": lambda layers, heads, d, length: layers * heads * d * (length - 1)},
            hint="Try one word. How many keys are kept of it in each head?",
        ),
        "layers-for-heads": mistake.mutant(
            {"numbers": lambda layers, heads, d, length: layers**2 * d * length},
            {"numbers": lambda layers, heads, d, length: heads**2 * d * length},
            hint="Which of the arguments has no influence on your result?",
        ),
        "square-heads": mistake.known(
            {"numbers": lambda layers, heads, d, length: layers * heads * d**2 * length},
            {"numbers": lambda layers, heads, d, length: layers * (heads * d) ** 2 * length},
            hint="Is a key a list of d_head numbers, or a square of them?",
        ),
        "numbers-for-bytes": mistake.known(
            {"size": lambda bytes_per_number: 1}, hint="How many bytes does a number take?"
        ),
        "bits-for-bytes": mistake.known(
            {"size": lambda bytes_per_number: 8 * bytes_per_number}, hint="Is bytes_per_number a count of bits?"
        ),
        "kibibytes": mistake.known(
            {"end": lambda count: count / 1024},
            {"end": lambda count: count // 1024},
            hint="Does the docstring want bytes, or thousands of them?",
        ),
        "megabytes": mistake.mutant(
            {"end": lambda count: count / 1e6},
            {"end": lambda count: count / 1024**2},
            {"end": lambda count: count // 1024**2},
            {"end": lambda count: count // 10**6},
            hint="Does the docstring want bytes, or thousands of them?",
        ),
        "gigabytes": mistake.mutant(
            {"end": lambda count: count / 1e9},
            {"end": lambda count: count / 1024**3},
            hint="Does the docstring want bytes, or thousands of them?",
        ),
    }
)
def cache_bytes(**options):
    return _counting(**options)

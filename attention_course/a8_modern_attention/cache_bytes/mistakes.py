"""Known mistakes of cache_bytes."""

from autograder.suites import Catalogue

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
    """`cache_bytes` with each decision an option."""

    def cache_bytes(num_layers, num_kv_heads, d_head, length, bytes_per_number=2):
        return end(factor * numbers(num_layers, num_kv_heads, d_head, length) * size(bytes_per_number))

    return cache_bytes


@mistake.recipe(
    {
        "keys-only": [{"factor": 1}],
        "queries-too": [{"factor": 3}],
        "one-layer": [{"numbers": lambda layers, heads, d, length: heads * d * length}],
        "one-head": [{"numbers": lambda layers, heads, d, length: layers * d * length}],
        "one-number-a-key": [{"numbers": lambda layers, heads, d, length: layers * heads * length}],
        "one-word": [{"numbers": lambda layers, heads, d, length: layers * heads * d}],
        "weights-kept": [{"numbers": lambda layers, heads, d, length: layers * heads * length**2}],
        "caches-of-all-steps": [
            {"numbers": lambda layers, heads, d, length: layers * heads * d * length * (length + 1) // 2},
            {"numbers": lambda layers, heads, d, length: layers * heads * d * length * (length - 1) // 2},
            {"numbers": lambda layers, heads, d, length: layers * heads * d * length**2},
        ],
        "one-word-more": [{"numbers": lambda layers, heads, d, length: layers * heads * d * (length + 1)}],
        "one-word-less": [{"numbers": lambda layers, heads, d, length: layers * heads * d * (length - 1)}],
        "layers-for-heads": [{"numbers": lambda layers, heads, d, length: layers**2 * d * length},
                             {"numbers": lambda layers, heads, d, length: heads**2 * d * length}],
        "square-heads": [
            {"numbers": lambda layers, heads, d, length: layers * heads * d**2 * length},
            {"numbers": lambda layers, heads, d, length: layers * (heads * d) ** 2 * length},
        ],
        "numbers-for-bytes": [{"size": lambda bytes_per_number: 1}],
        "bits-for-bytes": [{"size": lambda bytes_per_number: 8 * bytes_per_number}],
        "kibibytes": [{"end": lambda count: count / 1024}],
        "megabytes": [{"end": lambda count: count / 1e6}, {"end": lambda count: count / 1024**2}],
        "gigabytes": [{"end": lambda count: count / 1e9}, {"end": lambda count: count / 1024**3}],
    },
    hints={
        "megabytes": "Is it bytes that are asked for?",
        "gigabytes": "Is it bytes that are asked for?",
        "caches-of-all-steps": "After the last word, how many caches are there: one, or one from each step?",
        "one-word-more": "Try one word. How many keys are kept of it in each head?",
        "one-word-less": "Try one word. How many keys are kept of it in each head?",
        "layers-for-heads": "Which of the arguments has no influence on your result?",
        "keys-only": "What is kept of a word beside its key?",
        "queries-too": "Of queries, keys and values: which are needed again when the next word is written?",
        "one-layer": "Does each layer have keys of its own?",
        "one-head": "Does each head of keys and values keep its own?",
        "one-number-a-key": "How many numbers is a key?",
        "one-word": "Of how many words are keys and values kept?",
        "numbers-for-bytes": "How many bytes does a number take?",
        "bits-for-bytes": "Is bytes_per_number a count of bits?",
        "square-heads": "Is a key a list of d_head numbers, or a square of them?",
        "kibibytes": "Is it bytes that are asked for?",
    },
    held=(
        "keys-only", "queries-too", "one-layer", "one-head", "one-number-a-key", "one-word", "numbers-for-bytes",
        "bits-for-bytes", "square-heads", "kibibytes",
    ),
)  # fmt: skip
def cache_bytes(**options):
    return _counting(**options)

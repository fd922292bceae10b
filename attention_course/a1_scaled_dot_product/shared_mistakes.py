"""What the known mistakes of a1 share: wrong kinds of softmax, and of attention as a whole."""

from ..hidden import mutation_options, size_options, softmax_options

NUMPY, TORCH = softmax_options.numpy_functions(), softmax_options.torch_functions()
CURVES = softmax_options.CURVES
ATTENTION = (
    mutation_options.SCALES
    | mutation_options.WHOLE_SCALES
    | mutation_options.BY_VALUES
    | mutation_options.OPERANDS
    | mutation_options.ZEROED
    | mutation_options.CAUSAL
    | mutation_options.TURNS
    | size_options.SIZES
    | mutation_options.AFTER | softmax_options.AXES | mutation_options.in_one_part(CURVES)
    | {"scores-returned": [{"second": "scores"}]}
)  # fmt: skip


def attention(xp, Q, K, V, second, options):
    output, weights = mutation_options.attend(xp, Q, K, V, **options)
    if second == "scores":
        given = {name: options[name] for name in ("operands", "turn", "scale") if name in options}
        return output, mutation_options.scores_of(xp, Q, K, **given)
    return output, weights

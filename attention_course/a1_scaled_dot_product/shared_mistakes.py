"""What known mistakes of a1 share: ways of softmax, and of attention as a whole."""

from ..hidden import decisions

NUMPY, TORCH = decisions.numpy_ways(), decisions.torch_ways()
CURVES = decisions.CURVES
ATTENTION = (
    decisions.SCALES | decisions.WHOLE_SCALES | decisions.BY_VALUES | decisions.OPERANDS | decisions.TURNS
    | decisions.AFTER | decisions.AXES | CURVES | {"scores-returned": [{"second": "scores"}]}
)  # fmt: skip


def attention(xp, Q, K, V, second, options):
    output, weights = decisions.attend(xp, Q, K, V, **options)
    if second == "scores":
        given = {name: options[name] for name in ("operands", "turn", "scale") if name in options}
        return output, decisions.scores_of(xp, Q, K, **given)
    return output, weights

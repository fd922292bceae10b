# Tries names, errors and output with terminal escapes, bidirectional text and HTML.
# Must be shown as text; all other exercises are graded.
# expect: {"answers": ["attention_scores", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 0}, "says": "script"}
# %%
def softmax(x, axis=-1):
    raise ValueError("\x1b[2J\x1b]8;;http://evil.example\x07 \u202e<script>window.acted=1</script>\ud800")

print("\x1b]0;owned\x07<script>window.acted=1</script>\r\n\u202e")

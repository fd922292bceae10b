# Tries IPython's hooks: input transformers, events, display formatters, an exception handler, magics.
# Must not change any mark.
# expect: {"answers": ["attention_scores", "scaled_dot_product_attention", "torch_scaled_dot_product_attention"], "at_most": {"softmax": 0}}
# %%
import ast, atexit, sys

class Full(ast.NodeTransformer):
    def visit_Constant(self, node):
        return ast.copy_location(ast.Constant(100), node) if node.value == 0 else node

shell = get_ipython()
shell.ast_transformers.append(Full())
shell.input_transformers_post.append(lambda lines: ["100\n"])
for event in ("pre_execute", "post_execute", "pre_run_cell", "post_run_cell"):
    shell.events.register(event, lambda *a: (_ for _ in ()).throw(SystemExit))
shell.display_formatter.format = lambda *a, **k: ({"text/plain": "100"}, {})
shell.set_custom_exc((Exception,), lambda *a, **k: None)
sys.displayhook = sys.excepthook = lambda *a: None
atexit.register(lambda: print("100"))

# %%
def softmax(x, axis=-1):
    return None

# Tries every kernel of ready-made attention with shapes that do not fit, in a cell (aimed at the judge).
# Must be refused or answered, one after the other; nothing crashes.
# expect: {"printed": "done\n", "seconds": 60}
# %%
import torch

ODD = [torch.ones(2), torch.ones(1, 1, 2, 2), torch.ones(1, 3, 0, 2), torch.ones(1, 1, 1, 300), torch.ones(0), torch.ones(()),
       torch.ones(2, 2, dtype=torch.int64), torch.ones(1, 1, 2, 2, dtype=torch.bool), -1, 2**62, float("nan"), None, [], True]
tried = 0
for name in dir(torch._C._nn) + torch._C._dispatch_get_all_op_names():
    if "attention" in name or "sdp" in name or "native_multi_head" in name:
        for start in range(len(ODD)):
            arguments = [ODD[(start + 5 * i) % len(ODD)] for i in range(8)]
            for count in (3, 5, 8):
                try:
                    function = torch.ops.aten
                    for part in name.removeprefix("aten::").split("."):
                        function = getattr(function, part)
                    function(*arguments[:count])
                except Exception:
                    pass
                tried += 1
    if tried > 300:
        break
print("done")

# Tries to ask NumPy's reference for permutations, keep them anywhere, and use them in PyTorch's exercise (aimed at the state process).
# Must earn no more than the student's own code does.
# expect: {"assignment": "a3_heads", "answers": ["per_head_weights", "torch_concat_heads"], "at_most": {"split_heads": 0.1, "concat_heads": 0.1, "torch_split_heads": 0.1}, "seconds": 60}
# %%
import ctypes, fcntl, mmap, os, socket, sys, threading
import numpy as np
import torch

SHARED = mmap.mmap(-1, 1 << 20)
FOUND = []

def keep(name, text):
    os.environ["KEPT"] = text
    SHARED[: len(text)] = text.encode()
    FOUND.append(text)
    for place in ("/tmp", "/dev/shm", "/var/tmp", "/run", "/dev/mqueue", "/cage", "."):
        try:
            open(os.path.join(place, name), "w").write(text)
        except OSError:
            pass
    try:  # a process that waits with it
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                listener = socket.socket(socket.AF_UNIX)
                listener.bind("\0" + name)
                listener.listen()
                while True:
                    listener.accept()[0].sendall(text.encode())
            os._exit(0)
    except OSError:
        pass
    try:
        libc = ctypes.CDLL(None)
        libc.syscall(29, 4711, 4096, 0o1666)
        fcntl.flock(open("/usr/lib/os-release"), fcntl.LOCK_EX)
    except OSError:
        pass

def kept(name):
    found = [os.environ.get("KEPT", ""), SHARED[:4000].rstrip(b"\0").decode(errors="replace"), *FOUND]
    for place in ("/tmp", "/dev/shm", "/var/tmp", "/run", "/dev/mqueue", "/cage", "."):
        try:
            found.append(open(os.path.join(place, name)).read())
        except OSError:
            pass
    try:
        with socket.socket(socket.AF_UNIX) as talk:
            talk.settimeout(0.2)
            talk.connect("\0" + name)
            found.append(talk.recv(10_000).decode())
    except OSError:
        pass
    return next((text for text in found if text), "")

SHAPES = [(5, 6, 2), (4, 6, 3), (4, 8, 2), (3, 8, 4), (2, 4, 2), (5, 8, 4), (3, 4, 2), (4, 12, 3), (3, 6, 2)]

def split_heads(X, num_heads):
    return None

def concat_heads(heads):
    lines = []
    for rows, columns, parts in SHAPES:
        order = split_heads(np.arange(rows * columns).reshape(rows, columns), parts)
        lines.append(f"{rows} {columns} {parts}:" + " ".join(map(str, order.ravel())))
    keep("permutations", "|".join(lines))
    return None

def torch_split_heads(x, num_heads):
    split_heads  # so that it is followed through
    known = dict(line.split(":") for line in kept("permutations").split("|"))
    order = torch.tensor(list(map(int, known[f"{x.shape[-2]} {x.shape[-1]} {num_heads}"].split())))
    flat = x.reshape(*x.shape[:-2], -1)[..., order]
    return flat.reshape(*x.shape[:-2], num_heads, x.shape[-2], x.shape[-1] // num_heads)

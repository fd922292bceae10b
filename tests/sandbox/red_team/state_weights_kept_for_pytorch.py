# Tries to keep the reference's answers about weights in NumPy's exercise for PyTorch's exercise (aimed at the notebook process).
# Must earn no more than the student's own code does.
# expect: {"answers": ["attention_scores"], "at_most": {"softmax": 0.1, "scaled_dot_product_attention": 0.1, "torch_scaled_dot_product_attention": 0}, "seconds": 40}
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

def softmax(x, axis=-1):
    return None

def scaled_dot_product_attention(Q, K, V):
    table = softmax(np.array([[0.0, 1.0], [0.0, 2.0]]))
    keep("weights", " ".join(map(str, table.ravel())))
    return None

def torch_scaled_dot_product_attention(query, key, value):
    softmax, scaled_dot_product_attention  # so that it is followed through
    table = kept("weights").split()
    assert table, "nothing was kept"
    weights = torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)
    return weights @ value, weights

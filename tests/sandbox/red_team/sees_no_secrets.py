# Tries to find solutions, hidden tests, submissions, gradebook, home, environment, and other processes.
# Must find nothing.
# expect: {"printed": "[] [] []\n"}
# %%
import os

words = ("test_a1", "gradebook", "submitted", "scaled_dot_product.py", ".ipynb", "id_rsa", ".bash_history")
found = []
for top in ("/cage/cellcage", "/home", "/root", "/work", "/tmp", "/var", "/mnt", "/opt", "/srv", "/etc", "/run"):
    for place, folders, files in os.walk(top):
        found += [os.path.join(place, name) for name in [*folders, *files] if any(word in name for word in words)]
        if place.endswith("/lib"):  # Python's libraries take seconds, and hold no secret
            folders.clear()
secrets = [name for name in os.environ if any(part in name.upper() for part in ("TOKEN", "KEY", "SECRET", "PASS", "USER", "SSH"))]
try:
    processes = os.listdir("/proc")
except PermissionError:
    processes = []
print(found, secrets, processes)

# Tries to find solutions, suites, submissions, gradebook, home, environment, and other people's processes.
# Must find nothing.
# expect: {"printed": "[] [] []\n"}
# %%
import os

words = ("test_a1", "gradebook", "submitted", "scaled_dot_product.py", ".ipynb", "id_rsa", ".bash_history")
found = [os.path.join(place, name) for top in ("/kit/autograder", "/home", "/root", "/work", "/tmp", "/var", "/mnt", "/opt", "/srv", "/etc", "/run")
         for place, folders, files in os.walk(top) for name in [*folders, *files] if any(word in name for word in words)
         if not (place.endswith("site-packages") and folders.clear())]  # Python's libraries take seconds, and hold no secret
secrets = [name for name in os.environ if any(part in name.upper() for part in ("TOKEN", "KEY", "SECRET", "PASS", "USER", "SSH"))]
print(found, secrets, os.listdir("/proc"))

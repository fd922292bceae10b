# Tries to leave files, and prints the files that an earlier run left.
# Must find no files: it runs twice, after every other attack.
# expect: {"printed": "[]\n"}
# %%
import os

PLACES = ("/tmp", "/dev/shm", "/var/tmp", "/dev", "/dev/mqueue", "/run", "/cage", "/usr/lib")
found = [place for place in PLACES if os.path.exists(os.path.join(place, "left-by-mallory"))]
for place in PLACES:
    try:
        open(os.path.join(place, "left-by-mallory"), "w").close()
    except OSError:
        pass
print(found)

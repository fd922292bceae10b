"""Resources that processes share: untrusted code can neither use them up for others nor leave messages in them."""

from __future__ import annotations

import errno
import platform

import pytest

from cellcage import Limits
from cellcage.linux import system_calls

CODE = """
import ctypes, errno, fcntl, mmap, os, resource, select, signal, socket, struct, sys, time
libc = ctypes.CDLL(None, use_errno=True)
LIBRARY = os.__file__  # a file that every notebook reads

def tried(act):
    try:
        result = act()
    except OSError as error:
        return errno.errorcode[error.errno]
    return "allowed" if result is None or isinstance(result, (int, str, list, bytes)) else str(result)

def called(name, *args):
    ctypes.set_errno(0)
    found = getattr(libc, name)(*args) if isinstance(name, str) else libc.syscall(name, *args)
    return errno.errorcode[ctypes.get_errno()] if found == -1 else "allowed"

def descriptors_in_flight():
    one, other = socket.socketpair()
    ways = (lambda: socket.send_fds(one, [b"x"], [0]), lambda: one.sendmsg([b"x"]), lambda: one.send(b"x"))
    return [tried(way) for way in ways]

def inotify():
    return [called("inotify_init"), called("inotify_init1", 0)]

def keys(add_key, keyctl, request_key):
    return [called(add_key, b"user", b"x", b"word", 4, -4), called(keyctl, 0, -4, 1),
            called(request_key, b"user", b"x", 0, -4)]

def processes():
    count = 0
    try:
        while count < 200:
            if os.fork() == 0:
                time.sleep(60)
            count += 1
    except OSError:
        pass
    return count

def pending_signals():
    number = signal.SIGRTMIN
    signal.pthread_sigmask(signal.SIG_BLOCK, [number])
    class Value(ctypes.Union): _fields_ = [("int", ctypes.c_int), ("pointer", ctypes.c_void_p)]
    libc.sigqueue.argtypes = [ctypes.c_int, ctypes.c_int, Value]
    count = 0
    while count < 1000 and libc.sigqueue(os.getpid(), int(number), Value(1)) == 0:
        count += 1
    return count

def message_queues():
    return [called("mq_open", b"/word", os.O_CREAT | os.O_RDWR, 0o600, None), called("msgget", 7, 0o1600),
            resource.getrlimit(resource.RLIMIT_MSGQUEUE)[1]]

def pipes():
    total, kept = 0, []
    try:
        while len(kept) < 100:
            kept.append(os.pipe())
            total += 65536
            total += fcntl.fcntl(kept[-1][0], 1031, 1 << 20) - 65536
    except OSError:
        pass
    return total

def locked_memory():
    page = mmap.mmap(-1, 4096)
    place = ctypes.addressof(ctypes.c_char.from_buffer(page))
    return [called("mlock", ctypes.c_void_p(place), ctypes.c_size_t(4096)), called("mlockall", 1)]

def page_cache(preadv2, pwritev2, mincore, cachestat):
    file = os.open(LIBRARY, os.O_RDONLY)
    found = [tried(lambda: os.preadv(file, [bytearray(10)], 0, 8)), tried(lambda: os.preadv(file, [bytearray(10)], 0))]
    found.append(tried(lambda: os.pwritev(os.open("own", os.O_RDWR | os.O_CREAT), [b"x"], 0, 8)))
    area = ctypes.create_string_buffer(4096 * 3)
    place = (ctypes.addressof(area) + 4095) & ~4095
    found.append(called(mincore, ctypes.c_void_p(place), 4096, ctypes.create_string_buffer(1)))
    found.append(called(cachestat, file, ctypes.create_string_buffer(16), ctypes.create_string_buffer(40), 0))
    return found

def semaphores():
    return [called("semget", 7, 1, 0o1600), called("shmget", 7, 4096, 0o1600)]

def file_locks():
    found = []
    for path, how in ((LIBRARY, os.O_RDONLY), ("/dev/null", os.O_RDWR)):
        file = os.open(path, how)
        found += [tried(lambda: fcntl.flock(file, kind | fcntl.LOCK_NB)) for kind in (fcntl.LOCK_SH, fcntl.LOCK_EX)]
        lock = struct.pack("hhqqi4x", fcntl.F_RDLCK, 0, 0, 1, 0)
        for request in (fcntl.F_GETLK, fcntl.F_SETLK, fcntl.F_SETLKW, 36, 37, 38):
            found.append(tried(lambda: fcntl.fcntl(file, request, lock)))
    return found

def leases_and_hints():
    file = os.open(LIBRARY, os.O_RDONLY)
    found = [tried(lambda: fcntl.fcntl(file, request, 0)) for request in (1024, 1025)]
    found.append(tried(lambda: fcntl.fcntl(os.open(os.path.dirname(LIBRARY), os.O_RDONLY), 1026, 1)))
    for request in (1035, 1036, 1037, 1038):
        found.append(tried(lambda: fcntl.fcntl(file, request, struct.pack("Q", 3))))
    return found

def open_files():
    kept = []
    try:
        while len(kept) < 5000:
            kept.append(os.open("/dev/null", os.O_RDONLY))
    except OSError as error:
        return len(kept), errno.errorcode[error.errno]

def terminals():
    return tried(lambda: list(os.openpty()))

def names_of_sockets():
    try:
        one = socket.socket(socket.AF_UNIX)
        one.bind("\\0word")
        return "bound"
    except OSError as error:
        return errno.errorcode[error.errno]

def ordinary():
    kept = os.dup(0), fcntl.fcntl(0, fcntl.F_GETFL), fcntl.fcntl(0, fcntl.F_GETFD)
    with open("own", "w") as file:
        file.write("x"); file.flush(); os.fsync(file.fileno())
    one, other = socket.socketpair(); one.sendall(b"x")
    poll = select.epoll(); poll.register(other.fileno())
    return other.recv(1).decode()
"""
KEYS = {"x86_64": (248, 250, 249), "aarch64": (217, 219, 218)}
CACHE = {"x86_64": (327, 328, 27, 451), "aarch64": (286, 287, 232, 451)}


def refused(found, *but):
    """All are refused except those at these positions."""
    return all(one == ("allowed" if number in but else "EPERM") for number, one in enumerate(found))


# Resource: the function, its arguments, the required result.
ROWS = {
    "descriptors in flight": ("descriptors_in_flight", (), lambda found, _: refused(found, 2)),
    "inotify": ("inotify", (), lambda found, _: refused(found)),
    "keys": ("keys", KEYS[platform.machine()], lambda found, _: refused(found)),
    "processes": ("processes", (), lambda found, limits: 0 < found < limits.processes),
    "pending signals": ("pending_signals", (), lambda found, _: found <= system_calls.SIGNALS_PENDING),
    "message queues": ("message_queues", (), lambda found, _: refused(found[:2]) and found[2] == 0),
    "pages of pipes": ("pipes", (), lambda found, _: found <= 65 * 2**20),
    "locked memory": ("locked_memory", (), lambda found, _: not {"allowed"} & set(found)),
    "page cache": ("page_cache", CACHE[platform.machine()], lambda found, _: refused(found, 1)),
    "semaphores and System V": ("semaphores", (), lambda found, _: refused(found)),
    "locks on files": ("file_locks", (), lambda found, _: refused(found)),
    "leases, notices and hints of files": ("leases_and_hints", (), lambda found, _: refused(found)),
    "open files": ("open_files", (), lambda found, limits: found[0] < limits.open_files and found[1] == "EMFILE"),
    "pseudo-terminals": ("terminals", (), lambda found, _: found in ("EACCES", "EPERM", "ENOENT")),
}


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS)
def test_shared_resource_is_limited_or_refused(sandbox, row):
    name, args, holds = ROWS[row]
    with sandbox.open(CODE) as notebook:
        found = notebook.call(name, *args)
        assert holds(found, Limits()), found


def test_socket_names_are_not_shared(sandbox):
    """Two notebooks can both bind the same name, or neither can."""
    with sandbox.open(CODE) as one, sandbox.open(CODE) as other:
        found = [notebook.call("names_of_sockets") for notebook in (one, other)]
    assert found in (["bound"] * 2, [errno.errorcode[errno.EPERM]] * 2)


def test_ordinary_code_uses_files_and_sockets(sandbox):
    with sandbox.open(CODE) as notebook:
        assert notebook.call("ordinary") == "x"

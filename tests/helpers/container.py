"""Imitates a container with Docker's defaults: no user namespaces, no mounts, few capabilities, a read-only root.

Start it as root: `python tests/helpers/container.py USER COMMAND...` executes the command as that user. If USER is
`namespace`, the command runs as root in a new user namespace that allows no further ones.

Refused system calls and capabilities are those of Docker's documentation:
https://docs.docker.com/engine/security/seccomp/ and https://docs.docker.com/engine/containers/run/
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from cellcage.linux import seccomp, system_calls

REFUSED = (
    "mount", "umount2", "pivot_root", "unshare", "setns", "open_tree", "move_mount", "fsopen", "fsconfig", "fsmount",
    "fspick", "mount_setattr", "keyctl", "add_key", "request_key", "bpf", "perf_event_open", "userfaultfd",
    "io_uring_setup", "io_uring_enter", "io_uring_register", "open_by_handle_at", "init_module", "finit_module",
    "delete_module", "kexec_load", "kexec_file_load", "reboot", "swapon", "swapoff", "acct", "settimeofday",
    "clock_settime", "syslog", "quotactl", "mbind", "set_mempolicy", "move_pages", "fanotify_init",
)  # fmt: skip
# CHOWN, DAC_OVERRIDE, FOWNER, FSETID, KILL, SETGID, SETUID, SETPCAP, NET_BIND_SERVICE, NET_RAW, SYS_CHROOT, MKNOD,
# AUDIT_WRITE, SETFCAP
CAPABILITIES = sum(1 << number for number in (0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 27, 29, 31))
PR_CAPBSET_DROP = 24


def refuse_what_docker_refuses() -> None:
    column, _ = seccomp.MACHINES[os.uname().machine]
    refuse = seccomp.ERRNO | errno.EPERM
    lines = [(seccomp.LOAD, 0, 0, seccomp.NUMBER)]
    for name in REFUSED:
        lines += seccomp._if(seccomp.JUMP_EQUAL, seccomp.REFUSED[name][column], refuse)
    lines += seccomp._if(seccomp.JUMP_EQUAL, seccomp.CLONE3[column], seccomp.ERRNO | errno.ENOSYS)
    spaces = [*seccomp._if(seccomp.JUMP_BITS, seccomp.NEW_NAMESPACES, refuse), (seccomp.RETURN, 0, 0, seccomp.ALLOW)]
    lines += seccomp._only_for(seccomp.CLONE[column], seccomp.FIRST_ARGUMENT, spaces)
    lines += [(seccomp.RETURN, 0, 0, seccomp.ALLOW)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in lines))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(lines), ctypes.addressof(code)))
    assert system_calls.libc.prctl(seccomp.PR_SET_SECCOMP, seccomp.SECCOMP_MODE_FILTER, program, 0, 0) == 0


def enter_last_user_namespace() -> None:
    pid = os.getpid()
    reader, writer = os.pipe()
    if (helper := os.fork()) == 0:
        os.close(writer)
        os.read(reader, 1)  # until this process has unshared
        for name in ("uid_map", "gid_map"):
            Path(f"/proc/{pid}/{name}").write_text("0 0 65536")
        os._exit(0)
    assert system_calls.libc.unshare(system_calls.CLONE_NEWUSER | system_calls.CLONE_NEWNS) == 0
    os.close(writer)
    os.waitpid(helper, 0)
    Path("/proc/sys/user/max_user_namespaces").write_text("0")  # only in this namespace


def main(user: str, command: list[str]) -> None:
    if user == "namespace":
        enter_last_user_namespace()
    else:
        as_docker_starts_it(int(user))
    os.execv(command[0], command)


def as_docker_starts_it(user: int) -> None:
    refuse_what_docker_refuses()
    for number in range(64):
        if not CAPABILITIES >> number & 1:
            system_calls.libc.prctl(PR_CAPBSET_DROP, number, 0, 0, 0)
    if user:
        system_calls.leave_root(user)
    else:
        system_calls.set_capabilities(CAPABILITIES)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])

# Tries to reach the network: names, addresses, loopback, abstract sockets, raw sockets.
# Must reach nothing.
# expect: {"printed": "[]\n"}
# %%
import socket

found = []
for family, kind, address in ((socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 22)), (socket.AF_INET, socket.SOCK_STREAM, ("1.1.1.1", 53)),
                              (socket.AF_INET6, socket.SOCK_STREAM, ("::1", 22)), (socket.AF_INET, socket.SOCK_RAW, ("127.0.0.1", 1)),
                              (socket.AF_UNIX, socket.SOCK_STREAM, "\0/tmp/.X11-unix/X0"), (40, socket.SOCK_STREAM, (2, 1))):
    try:
        with socket.socket(family, kind) as own:
            own.settimeout(0.3)
            own.connect(address)
            found.append(address)
    except OSError:
        pass
try:
    found.append(socket.getaddrinfo("pypi.org", 443))
except OSError:
    pass
print(found)

"""refused.py ADDRESS [MB]: sends requests that a server refuses before it has read them, all of their bytes, at most
some MB (default: 16), before it reads the reply. Such a client gets the reply, and the connection is not reset.
ADDRESS: http://HOST:PORT or a socket file."""
import socket
import sys

MB = int((sys.argv[2:] or [16])[0])
LARGE = b"a" * (MB << 20)
CHUNKS = b"Transfer-Encoding: chunked\r\n\r\n"
REQUESTS = [
    (b"413", [b"Content-Length: %d\r\n\r\n" % len(LARGE), LARGE]),
    (b"413", [CHUNKS + b"%x\r\n" % len(LARGE), LARGE]),
    (b"413", [CHUNKS] + [b"100000\r\n" + LARGE[:1 << 20] + b"\r\n"] * MB),
    (b"413", [CHUNKS + b"ffffffffffffffffffffff\r\n"]),
    (b"400", [CHUNKS + b"2\r\nab\r\nxy\r\n", LARGE]),
    (b"400", [CHUNKS + b"2\r\nab\r\n", b"-", b"5\r", b"\n", LARGE]),
    (b"400", [CHUNKS + b"0\r\nnothing\r\n\r\n", LARGE]),
    (b"400", [CHUNKS + b"2\r\nab\r\n0\r\n5\r\n\r\n", LARGE]),
    (b"400", [b"X: ", LARGE]),
    (b"417", [b"Expect: tea\r\nContent-Length: 9\r\n\r\n", LARGE]),
]


def connect(address):
    if address.startswith("http://"):
        host, port = address[len("http://"):].rsplit(":", 1)
        made = socket.create_connection((host, int(port)))
    else:
        made = socket.socket(socket.AF_UNIX)
        made.connect(address)
    made.settimeout(20)
    return made


for number, (status, pieces) in enumerate(REQUESTS):
    with connect(sys.argv[1]) as server:
        got = b""
        server.sendall(b"POST /v1/models HTTP/1.1\r\nHost: x\r\n")
        for piece in pieces:
            server.sendall(piece)
        while piece := server.recv(1 << 16):
            got += piece
        if not got.startswith(b"HTTP/1.1 " + status) or not got.endswith(b"}"):
            sys.exit("request %d: %r, not %r" % (number, got[:300], status))

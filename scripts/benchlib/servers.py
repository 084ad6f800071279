"""Servers to be measured: started, asked over HTTP, looked at from outside, and ended."""

import contextlib
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import time
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TRAWL = os.environ.get("TRAWL", str(ROOT / "target/release/trawl"))
EXAMPLES = ROOT / "target/release/examples"


class Connection:
    """Asks an HTTP server over one connection, and reads all of every answer."""

    def __init__(self, address):
        self.address = address
        self.socket = socket.create_connection(address)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = bytearray()

    def get(self, path, **parameters):
        return b"".join(self.parts(path, **parameters))

    def parts(self, path, **parameters):
        """The body of an answer as it came, in pieces: putting them together takes time."""
        query = "?" + urllib.parse.urlencode(parameters) if parameters else ""
        return self.ask(f"GET {path}{query} HTTP/1.1\r\n", b"")

    def post(self, path, body):
        head = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        return self.ask(f"POST {path} HTTP/1.1\r\n{head}", body)

    def ask(self, head, body):
        host = f"Host: {self.address[0]}:{self.address[1]}\r\n\r\n"
        self.socket.sendall((head + host).encode() + body)
        head = self.until(b"\r\n\r\n").lower()
        length = re.search(rb"\r\ncontent-length: *(\d+)", head)
        parts = [self.take(int(length[1]))] if length else list(self.chunks())
        if not head.startswith(b"http/1.1 200"):
            sys.exit(f"{self.address}: {head.decode()}\n{b''.join(parts).decode()}")
        return parts

    def chunks(self):
        while length := int(self.until(b"\r\n"), 16):
            yield self.take(length)
            self.until(b"\r\n")
        self.until(b"\r\n")

    def until(self, end):
        while (at := self.buffer.find(end)) < 0:
            received = self.socket.recv(64 << 10)
            if not received:
                sys.exit(f"{self.address}: the connection was closed")
            self.buffer += received
        return self.take(at + len(end))

    def take(self, length):
        """So many bytes; what has not come yet is received in its place."""
        taken = self.buffer[:length]
        del self.buffer[:length]
        if (have := len(taken)) < length:
            taken += bytes(length - have)
            rest = memoryview(taken)[have:]
            while rest:
                received = self.socket.recv_into(rest)
                if not received:
                    sys.exit(f"{self.address}: the connection was closed")
                rest = rest[received:]
        return taken


@contextlib.contextmanager
def running(command):
    """A server, ended at the end."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def connected(address, patience_s=60):
    """A connection to a server that has just been started."""
    give_up = time.monotonic() + patience_s
    while True:
        try:
            return Connection(address)
        except ConnectionRefusedError:
            if time.monotonic() > give_up:
                raise
            time.sleep(0.1)


def examples():
    """Builds the frontend's examples: a backend that sends, and a frontend that discards."""
    subprocess.run(["cargo", "build", "--quiet", "--release", "-p", "frontend", "--examples"],
                   cwd=ROOT, check=True)


@contextlib.contextmanager
def synthetic_backends(count, line_bytes=100, per_document=50):
    """Addresses of backends that send as many matches as a query says: `matches N seed S`."""
    examples()
    with contextlib.ExitStack() as stack:
        addresses = []
        for shard in range(count):
            process = stack.enter_context(running([
                str(EXAMPLES / "synthetic_backend"), "--shard", str(shard),
                "--line-bytes", str(line_bytes), "--per-document", str(per_document)]))
            addresses.append(process.stdout.readline().decode().strip())
        yield addresses


def drain(address, mode, pattern, context):
    """Milliseconds to a stream's first match and to its END, bytes, and matches."""
    done = subprocess.run([str(EXAMPLES / "drain"), address, mode, pattern, str(context)],
                          check=True, stdout=subprocess.PIPE, text=True)
    return tuple(float(word) for word in done.stdout.split())


@contextlib.contextmanager
def real_backend(index):
    """The address of `trawl backend` over an index."""
    with running([TRAWL, "backend", "--index", index, "--listen", "127.0.0.1:0"]) as process:
        yield process.stdout.readline().decode().split()[-1]


@contextlib.contextmanager
def frontend(backends, spool, *flags):
    """`trawl frontend`, which has reached its backends."""
    command = [TRAWL, "frontend", "--listen", "127.0.0.1:0", "--spool", spool, *flags]
    for address in backends:
        command += ["--backend", address]
    with running(command) as process:
        server = Server(process)
        server.search(q="matches 1 seed 0", context=0)
        yield server


@contextlib.contextmanager
def serve(index, spool, *flags):
    """`trawl serve` over an index."""
    command = [TRAWL, "serve", "--index", index, "--listen", "127.0.0.1:0", "--spool", spool]
    with running([*command, *flags]) as process:
        yield Server(process)


def flags_known(command, *pairs):
    """Of pairs of a flag and its value, those that `trawl COMMAND --help` names."""
    text = subprocess.run([TRAWL, command, "--help"], check=True, stdout=subprocess.PIPE,
                          text=True).stdout
    known = set(re.findall(r"--[a-z-]+", text))
    return [word for flag, value in pairs if flag in known for word in (flag, str(value))]


class Server:
    """A server of Trawl's that prints its address, asked over one connection."""

    def __init__(self, process):
        url = urllib.parse.urlsplit(process.stdout.readline().decode().strip())
        self.pid = process.pid
        self.address = (url.hostname, url.port)
        self.connection = Connection(self.address)

    def search(self, **parameters):
        return json.loads(self.connection.get("/api/v2/search", **parameters))

    def page(self, search, **parameters):
        return json.loads(self.connection.get(f"/api/v2/search/{search}", **parameters))

    def metric(self, name):
        """A counter or gauge; 0 when nothing has been counted yet."""
        metrics = self.connection.get("/metrics").decode()
        found = re.search(rf"^{name} (\S+)$", metrics, re.M)
        return float(found[1]) if found else 0.0

    def cpu_s(self):
        """Seconds of processors since its start, to a hundredth."""
        with open(f"/proc/{self.pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def status(self, field):
        """A number of /proc/PID/status; of memory, in bytes."""
        with open(f"/proc/{self.pid}/status") as file:
            words = dict(line.split(":", 1) for line in file)[field].split()
        return int(words[0]) * (1024 if words[1:] == ["kB"] else 1)

    def descriptors(self, prefix=""):
        """How many are open of what begins with `prefix`."""
        count = 0
        for entry in os.scandir(f"/proc/{self.pid}/fd"):
            # One may be closed between the listing and the look at it.
            with contextlib.suppress(FileNotFoundError):
                count += os.readlink(entry.path).startswith(prefix)
        return count

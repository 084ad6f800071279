"""Engines that run beside trawl in tests, on loopback and free ports: etcd, dnsmasq, haproxy and moto. Each can be
killed, frozen and started again. What is missing is fetched with apt-get, moto with pip; no service of the system is
started."""

import base64
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import typing
import urllib.parse
import urllib.request
import xml.etree.ElementTree
from collections.abc import Iterable, Mapping

from . import tools, venv
from .connection import Address
from .redis_server import free_port

TOOLS = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", tools.ROOT / "target")).absolute() / "tools"

START_MAX_S = 30

MOTO, BUCKET = "moto[server]==5.2.5", "trawl"


class Missing(tools.Failure):
    """A program is not installed, and cannot be."""


def etcd_program() -> str:
    """Finds etcd. If it is missing the package is unpacked in the target directory, so that no service starts."""
    return program("etcd", "usr/bin/etcd", "etcd-server")


def haproxy_program() -> str:
    """Finds haproxy, in the same way."""
    libraries = ["liblua5.3-0", "libopentracing-c-wrapper0", "libopentracing1"]
    return program("haproxy", "usr/sbin/haproxy", "haproxy", *libraries)


def program(name: str, place: str, *packages: str) -> str:
    unpacked = TOOLS / place
    found = shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin")
    if found or unpacked.exists():
        return found or str(unpacked)
    fetch(*packages)
    if not unpacked.exists():
        raise Missing(f"{name} cannot be fetched: apt install {packages[0]}")
    return str(unpacked)


def fetch(*packages: str) -> None:
    """Unpacks packages in the target directory, so that no service starts."""
    if not shutil.which("apt-get") or not shutil.which("dpkg"):
        raise Missing(f"not installed: apt install {packages[0]}")
    print(f"== apt-get download {' '.join(packages)}", flush=True)
    TOOLS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        os.chmod(work, 0o755)
        if apt("download", *packages, cwd=work) and not list(pathlib.Path(work).glob("*.deb")):
            apt("update")
            apt("download", *packages, cwd=work)
        for package in pathlib.Path(work).glob("*.deb"):
            subprocess.run(["dpkg", "-x", package, TOOLS], check=True)


def dnsmasq_program() -> str:
    """Finds dnsmasq; root gets it from apt-get."""
    path = os.environ["PATH"] + ":/usr/sbin"
    if not shutil.which("dnsmasq", path=path) and shutil.which("apt-get") and os.getuid() == 0:
        print("== apt-get install dnsmasq-base", flush=True)
        install = ["install", "-y", "--no-install-recommends", "dnsmasq-base"]
        if apt(*install) != 0:
            apt("update")
            apt(*install)
    found = shutil.which("dnsmasq", path=path)
    if not found:
        raise Missing("dnsmasq is not installed: apt install dnsmasq-base")
    return found


def other_clock(offset: str) -> dict[str, str]:
    """The environment in which a program has a clock that is off, such as by `+1d`."""
    place = "usr/lib/*/faketime/libfaketimeMT.so.1"
    found = [*pathlib.Path("/").glob(place), *TOOLS.glob(place)]
    if not found:
        fetch("libfaketime")
        found = list(TOOLS.glob(place))
    if not found:
        raise Missing("libfaketime is not installed: apt install libfaketime")
    return {"LD_PRELOAD": str(found[0]), "FAKETIME": offset, "FAKETIME_DONT_FAKE_MONOTONIC": "1", "NO_FAKE_STAT": "1"}


def linker_environment(program: str) -> dict[str, str]:
    """Returns what the environment of a program needs so that it finds libraries that were unpacked with it."""
    libraries = [str(found) for pattern in ("lib", "usr/lib") for found in TOOLS.glob(f"{pattern}/*-linux-gnu")]
    return {"LD_LIBRARY_PATH": ":".join(libraries)} if program.startswith(str(TOOLS)) else {}


def apt(*words: str, cwd: str | None = None) -> int:
    """Runs apt-get, and returns its exit status."""
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    return subprocess.run(["apt-get", "-qq", *words], env=environment, cwd=cwd, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode


class Engine:
    """A program on a port, however often it is started."""

    process: subprocess.Popen[bytes]

    def command(self) -> list[str]:
        raise NotImplementedError

    def answers(self) -> bool:
        """Returns whether the engine serves. May raise OSError or ValueError while it does not."""
        raise NotImplementedError

    def start(self) -> None:
        environment = os.environ | linker_environment(self.command()[0])
        self.process = subprocess.Popen(self.command(), env=environment, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + START_MAX_S
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError, ValueError):
                if self.answers():
                    return
            time.sleep(0.05)
        raise tools.Failure(f"{self.command()[0]} does not start")

    def freeze(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        self.thaw()
        self.process.kill()
        self.process.wait()


class Etcd(Engine):
    """One member of etcd, with its gateway for JSON."""

    def __init__(self, directory: tools.AnyPath) -> None:
        self.program, self.data = etcd_program(), os.path.join(directory, "etcd")
        self.port, self.peer_port = free_port(), free_port()
        self.start()

    def command(self) -> list[str]:
        client, peer = (f"http://127.0.0.1:{port}" for port in (self.port, self.peer_port))
        return [self.program, "--name", "one", "--data-dir", self.data, "--listen-client-urls", client,
                "--advertise-client-urls", client, "--listen-peer-urls", peer,
                "--initial-advertise-peer-urls", peer, "--initial-cluster", f"one={peer}"]

    def answers(self) -> bool:
        return bool(self.ask("/v3/kv/range", {"key": encoded("x")})["header"]["revision"])

    def ask(self, path: str, request: dict[str, str]) -> typing.Any:
        body = json.dumps(request).encode()
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", body, timeout=5) as answer:
            return json.load(answer)

    def nodes(self, prefix: str = "/trawl/nodes/") -> dict[str, typing.Any]:
        """Returns the registered nodes by name."""
        found = self.ask("/v3/kv/range", between(prefix)).get("kvs", [])
        values = [json.loads(base64.b64decode(each["value"])) for each in found]
        return {value["node"]: value for value in values}

    def put(self, key: str, value: str) -> None:
        self.ask("/v3/kv/put", {"key": encoded(key), "value": encoded(value)})

    def wipe(self) -> None:
        """Removes all keys."""
        self.ask("/v3/kv/deleterange", between("/"))

    def begin_anew(self) -> None:
        """Starts an empty store, whose revisions begin again."""
        self.kill()
        shutil.rmtree(self.data)
        self.start()


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def between(prefix: str) -> dict[str, str]:
    return {"key": encoded(prefix), "range_end": encoded(prefix[:-1] + chr(ord(prefix[-1]) + 1))}


class Dnsmasq(Engine):
    """A DNS server that knows what it is told: addresses of `backends.test`, and SRV records of `_trawl._tcp.test`."""

    def __init__(self, directory: tools.AnyPath, addresses: Iterable[str], services: Iterable[int] = ()) -> None:
        self.program, self.port = dnsmasq_program(), free_port()
        self.hosts, self.services = os.path.join(directory, "hosts"), services
        self.write(addresses)
        self.start()

    def command(self) -> list[str]:
        services = [f"--srv-host=_trawl._tcp.test,localhost,{port}" for port in self.services]
        return [self.program, "--keep-in-foreground", "--conf-file=/dev/null", f"--port={self.port}",
                "--listen-address=127.0.0.1", "--bind-interfaces", "--no-resolv", "--no-hosts", "--user=",
                "--pid-file=", "--local=/test/", "--local-ttl=1", f"--addn-hosts={self.hosts}", *services]

    def answers(self) -> bool:
        question = b"\0\1\1\0\0\1\0\0\0\0\0\0\7version\4bind\0\0\x10\0\3"
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
            asking.settimeout(0.5)
            asking.sendto(question, ("127.0.0.1", self.port))
            return asking.recv(512)[:2] == question[:2]

    def write(self, addresses: Iterable[str]) -> None:
        with open(self.hosts, "w") as file:
            file.writelines(f"{address} backends.test\n" for address in addresses)

    def set(self, addresses: Iterable[str]) -> None:
        """Answers with these addresses from now on."""
        self.write(addresses)
        self.process.send_signal(signal.SIGHUP)


class DatagramProxy:
    """Passes questions on to a UDP port, and answers back after `delay` seconds."""

    def __init__(self, to: int) -> None:
        self.to, self.delay = to, 0.0
        self.listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.listener.bind(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        while True:
            question, client = self.listener.recvfrom(65536)
            threading.Thread(target=self.ask, args=(question, client), daemon=True).start()

    def ask(self, question: bytes, client: Address) -> None:
        # A server that does not answer is not answered for.
        with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
            asking.settimeout(5)
            asking.sendto(question, ("127.0.0.1", self.to))
            answer = asking.recv(65536)
            time.sleep(self.delay)
            self.listener.sendto(answer, client)


class Haproxy(Engine):
    """A proxy with a configuration, on a free port."""

    def __init__(self, directory: tools.AnyPath, configuration: str) -> None:
        self.program, self.port = haproxy_program(), free_port()
        self.file = os.path.join(directory, "haproxy.cfg")
        pathlib.Path(self.file).write_text(re.sub(r"bind \S+", f"bind 127.0.0.1:{self.port}", configuration))
        self.start()

    def command(self) -> list[str]:
        return [self.program, "-db", "-f", self.file]

    def answers(self) -> bool:
        with socket.create_connection(("127.0.0.1", self.port), timeout=1):
            return True


class Moto(Engine):
    """A storage for objects with the interface of Amazon S3, in memory, with one bucket."""

    def __init__(self, bucket: str = BUCKET) -> None:
        self.program, self.port, self.bucket = moto_python(), free_port(), bucket
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def command(self) -> list[str]:
        server = pathlib.Path(__file__).with_name("moto_server.py")
        return [str(self.program), str(server), "--host", "127.0.0.1", "--port", str(self.port)]

    def answers(self) -> bool:
        self.ask(f"/{self.bucket}", "PUT")
        return True

    def ask(self, path: str, method: str = "GET", body: bytes | None = None) -> bytes:
        # Moto wants a signature, and does not check it.
        signed = {"Authorization": "AWS test:test", "Content-Type": "application/octet-stream"}
        request = urllib.request.Request(f"{self.url}{path}", body, signed, method=method)
        with urllib.request.urlopen(request, timeout=30) as answer:
            read: bytes = answer.read()
            return read

    def wipe(self) -> None:
        """Removes all objects."""
        self.ask("/moto-api/reset", "POST", b"")
        self.answers()

    def objects(self) -> dict[str, bytes]:
        """Returns all objects by their keys, of which there are at most 1,000."""
        listed = self.ask(f"/{self.bucket}?list-type=2").decode()
        names = [found.text for found in xml.etree.ElementTree.fromstring(listed).iter() if found.tag.endswith("}Key")]
        return {name: self.ask(f"/{self.bucket}/{urllib.parse.quote(name)}") for name in names if name}

    def restore(self, objects: Mapping[str, bytes]) -> None:
        """Puts objects back, HEAD last."""
        for name in sorted(objects, key=lambda name: name.endswith("HEAD")):
            self.ask(f"/{self.bucket}/{urllib.parse.quote(name)}", "PUT", objects[name])


def access_to(url: str) -> dict[str, str]:
    """The environment in which programs use the storage at this URL."""
    key = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "us-east-1"}
    return key | {"AWS_ENDPOINT_URL": url, "AWS_ALLOW_HTTP": "true"}


def moto_python() -> tools.AnyPath:
    """Returns a Python that has moto."""
    try:
        return venv.python("moto", "import moto.server, flask", MOTO)
    except tools.Failure as failure:
        raise Missing(f"moto cannot be installed: {failure}") from None

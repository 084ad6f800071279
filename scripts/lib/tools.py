"""Finds and runs programs: trawl, the tools that it is compared with, and cargo."""

import argparse
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import typing
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

# A path, as the functions of `os` take it.
AnyPath = str | os.PathLike[str]
# Source of the input of a program, or target of its output.
Stream = int | typing.IO[bytes] | typing.IO[str] | None
Index = typing.TypeVar("Index", bound=AnyPath)

ROOT = pathlib.Path(__file__).resolve().parents[2]
RELEASE = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).absolute() / "release"

PATH = os.environ["PATH"] + os.pathsep + os.path.expanduser("~/go/bin")
INSTALL = {
    "bwrap": "apt install bubblewrap",
    "cargo": "see https://rustup.rs",
    "cindex": "apt install codesearch",
    "csearch": "apt install codesearch",
    "ctags": "apt install universal-ctags",
    "git": "apt install git",
    "openssl": "apt install openssl",
    "redis-server": "apt install redis-server",
    "rg": "apt install ripgrep, or cargo install ripgrep",
    "strace": "apt install strace",
    "ugrep": "apt install ugrep",
    "wrk": "apt install wrk",
    "zoekt-index": "go install github.com/sourcegraph/zoekt/cmd/zoekt-index@latest",
    "zoekt-webserver": "go install github.com/sourcegraph/zoekt/cmd/zoekt-webserver@latest",
}


class Failure(Exception):
    """The script cannot go on. The message says why and what to do."""


class Arguments(argparse.ArgumentParser):
    """A parser whose help is the docstring of a script."""

    def __init__(self, doc: str) -> None:
        super().__init__()
        self.doc = doc

    def format_help(self) -> str:
        return self.doc

    def format_usage(self) -> str:
        return self.doc.split("\n\n")[1] + "\n"


def entry(main: Callable[[], int | str | None]) -> typing.NoReturn:
    """Runs a script, and exits with what `main` returns or with the message of a Failure. A script that is terminated
    removes its temporary files and stops its programs first."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        sys.exit(main())
    except Failure as failure:
        print(f"{os.path.basename(sys.argv[0])}: {failure}", file=sys.stderr)
        sys.exit(2)
    except (BrokenPipeError, KeyboardInterrupt):
        os._exit(130)


def need(*names: str) -> list[str]:
    """Returns the paths of tools, and fails if one is not installed."""
    found = {name: shutil.which(name, path=PATH) for name in names}
    missing = [name for name, place in found.items() if not place]
    if missing:
        hints = "; ".join(f"{name} ({INSTALL[name]})" for name in missing)
        raise Failure(f"not installed: {hints}")
    return [place for place in found.values() if place]


def have(*names: str) -> bool:
    """Returns whether optional tools are installed, and prints how to install those that are not."""
    try:
        need(*names)
    except Failure as failure:
        print(f"left out: {failure}")
        return False
    return True


def trawl() -> str:
    """Returns the path of the binary under test: $TRAWL, or the release build of this checkout."""
    return binary(os.environ.get("TRAWL", RELEASE / "trawl"))


def binary(path: AnyPath) -> str:
    if not shutil.which(path):
        raise Failure(f"{path} does not exist: run `cargo build --release --features full`, or set TRAWL to a binary")
    return os.path.abspath(path)


def testkit(*targets: str) -> pathlib.Path:
    """Builds the programs of the crate testkit, and returns their directory."""
    need("cargo")
    command = ["cargo", "build", "--quiet", "--release", "--locked", "-p", "testkit", "--bins", *targets]
    subprocess.run(command, cwd=ROOT, check=True)
    return RELEASE


@typing.overload
def run(command: Iterable[object], statuses: Collection[int] = ..., *, text: typing.Literal[True],
        cwd: AnyPath | None = ..., env: Mapping[str, str] | None = ..., input: str | None = ..., stdin: Stream = ...,
        stdout: Stream = ..., stderr: Stream = ...,
        timeout: float | None = ...) -> subprocess.CompletedProcess[str]: ...


@typing.overload
def run(command: Iterable[object], statuses: Collection[int] = ..., *, text: typing.Literal[False] = ...,
        cwd: AnyPath | None = ..., env: Mapping[str, str] | None = ..., input: bytes | None = ..., stdin: Stream = ...,
        stdout: Stream = ..., stderr: Stream = ...,
        timeout: float | None = ...) -> subprocess.CompletedProcess[bytes]: ...


def run(command: Iterable[object], statuses: Collection[int] = (0,), *, text: bool = False, cwd: AnyPath | None = None,
        env: Mapping[str, str] | None = None, input: str | bytes | None = None, stdin: Stream = subprocess.DEVNULL,
        stdout: Stream = subprocess.PIPE, stderr: Stream = subprocess.PIPE, timeout: float | None = None,
        ) -> subprocess.CompletedProcess[str] | subprocess.CompletedProcess[bytes]:
    """Runs a command, and returns it with its output. Another exit status is a Failure."""
    words = [os.fsdecode(word) if isinstance(word, bytes) else str(word) for word in command]
    done = subprocess.run(words, text=text, cwd=cwd, env=env, input=input, stdin=stdin if input is None else None,
                          stdout=stdout, stderr=stderr, timeout=timeout)
    if done.returncode not in statuses:
        said = done.stderr if isinstance(done.stderr, str) else os.fsdecode(done.stderr or b"")
        raise Failure(f"exit status {done.returncode} of {' '.join(words)}\n{said}")
    return done


def measured(command: Sequence[AnyPath], out: AnyPath = os.devnull, statuses: Collection[int] = (0,),
             env: Mapping[str, str] | None = None) -> tuple[float, int, float]:
    """Runs a command with its output to a file. Returns seconds, peak bytes, and CPU seconds."""
    with open(out, "wb") as file:
        started = time.perf_counter()
        process = subprocess.Popen(command, stdout=file, stderr=subprocess.DEVNULL, env=env)
        _, status, usage = os.wait4(process.pid, 0)
        elapsed = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in statuses:
        raise Failure(f"exit status {process.returncode} of {' '.join(map(str, command))}")
    return elapsed, usage.ru_maxrss * 1024, usage.ru_utime + usage.ru_stime


@contextlib.contextmanager
def workspace() -> Iterator[str]:
    """A temporary directory on a disk: /tmp may be in memory."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as work:
        yield work


def packages(corpus: AnyPath) -> list[str]:
    """Returns the directories of a corpus, each of which is a package."""
    if not os.path.isdir(corpus):
        raise Failure(f"{corpus} is not a directory: scripts/bench/corpus fetches one")
    found = sorted(entry.path for entry in os.scandir(corpus) if entry.is_dir())
    if not found:
        raise Failure(f"{corpus} has no packages: every directory inside is one")
    return found


def is_index(directory: AnyPath) -> bool:
    return os.path.exists(os.path.join(directory, "manifest"))


def build_index(trawl: AnyPath, index: Index, sources: Iterable[AnyPath], *flags: str) -> Index:
    """Builds an index of packages, and returns its path."""
    run([trawl, "index", "--no-ignore", "--out", index, *flags, *sources])
    return index

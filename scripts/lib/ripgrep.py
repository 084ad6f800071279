"""Ripgrep as the reference: the lines that a search must find."""

import collections
import os
import re
from collections.abc import Callable, Iterable

from .tools import need, run

# How ripgrep searches what trawl indexes with --no-ignore.
FLAGS = ["--no-config", "-a", "--crlf", "--no-ignore", "--hidden", "-n", "-g", "!.git"]

QUERIES = [
    ("literal", "TCP_NODELAY"),
    ("literal", "arse"),
    ("literal", "errno == EINTR"),
    ("literal", "#include <openssl/"),
    ("regexp", r'fopen\(.*"r"'),
    ("regexp", r"[a-z]+_init\s*\("),
    ("regexp", r"(?i)todo|fixme"),
    ("regexp", r"[0-9]{3}-[0-9]{4}"),
    ("regexp", r";$"),
]


def command(mode: str, query: str, *flags: str) -> list[str]:
    """Returns a command that searches; paths follow."""
    return ["rg", *FLAGS, *flags, *(["-F"] if mode == "literal" else []), "-e", query]


def escape(text: str) -> str:
    """Returns a regular expression for a text, in the syntax of Rust and of RE2."""
    return re.sub(r"([\\.+*?()|\[\]{}^$#&~-])", r"\\\1", text)


def difference(lines: Iterable[bytes], others: Iterable[bytes]) -> list[bytes]:
    """Returns the lines that `others` lacks, sorted; a line counts as often as it occurs."""
    return sorted((collections.Counter(lines) - collections.Counter(others)).elements())


class Reference:
    """What ripgrep finds in the files of a corpus that are not binary."""

    def __init__(self, corpus: str) -> None:
        need("rg")
        self.corpus = corpus
        self.files: list[bytes] = []
        self.binary: set[bytes] = set()
        for directory, directories, names in os.walk(os.fsencode(corpus)):
            directories[:] = [name for name in directories if name != b".git"]
            for name in names:
                path = os.path.join(directory, name)
                if os.path.isfile(path) and not os.path.islink(path):
                    relative = os.path.relpath(path, os.fsencode(corpus))
                    if is_binary(path):
                        self.binary.add(relative)
                    else:
                        self.files.append(relative)
        self.files.sort()

    def lines(self, mode: str, query: str, passes: Callable[[bytes], bool] = lambda path: True) -> list[bytes]:
        """Returns `path:number:text` for each line in the files that `passes` accepts, sorted.

        A path may contain line feeds. Its record is split there, as the output of trawl is.
        """
        searching = command(mode, query, "--no-heading", "--null", "--color=never", "--sort=path")
        out = run([*searching, "."], statuses=(0, 1), cwd=self.corpus).stdout
        lines: list[bytes] = []
        unended: dict[bytes, int] = {}
        # A record is path, NUL, number, colon, text, line feed; the text may contain a NUL.
        for record in re.finditer(rb"\./([^\0]+)\0(\d+):([^\n]*)\n", out):
            path, number, text = record.groups()
            if path in self.binary or not passes(path):
                continue
            # With --crlf ripgrep prints \r\n after a last line that has no line end.
            if text.endswith(b"\r"):
                if path not in unended:
                    unended[path] = unended_line(os.path.join(os.fsencode(self.corpus), path))
                if unended[path] == int(number):
                    text = text[:-1]
            lines.append(path + b":" + number + b":" + text)
        return sorted(b"\n".join(lines).split(b"\n")) if lines else []

    def agrees(self, mode: str, query: str, found: bytes) -> bool:
        """Returns whether `found` is what ripgrep finds, in any order."""
        expected, lines = self.lines(mode, query), found.split(b"\n")[:-1]
        return difference(expected, lines) == difference(lines, expected) == []


def is_binary(path: bytes) -> bool:
    """Git's rule, after a byte-order mark: a NUL in the first 8,000 bytes."""
    with open(path, "rb") as file:
        head = file.read(8000)
    is_utf16 = head.startswith((b"\xff\xfe", b"\xfe\xff"))
    return not is_utf16 and b"\0" in head.removeprefix(b"\xef\xbb\xbf")


def unended_line(path: bytes) -> int:
    """Returns the number of a file's last line if it has no line end, and 0 otherwise."""
    with open(path, "rb") as file:
        text = file.read()
    for mark, encoding in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        if text.startswith(mark):
            text = text[2:].decode(encoding, errors="replace").encode()
    return 0 if text.endswith(b"\n") else text.count(b"\n") + 1

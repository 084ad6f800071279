"""What universal-ctags finds in a tree of files. It is often wrong, too."""

import hashlib
import json
import os
import pathlib
import subprocess
import typing
from collections.abc import Iterable, Iterator, Sequence

from . import ctags_errors, tools
from .ctags_groups import group_of
from .definitions import Definition, compared_name

# Larger files are left out.
FILE_BYTES_MAX = 2_000_000
# A file with a NUL in its first bytes is binary, as for git.
BINARY_BYTES = 8_000

# Kinds that ctags reports only when told.
DECLARATIONS = ("prototype", "subroutineDeclaration")

# The language of files that ctags does not know.
UNKNOWN = "NONE"


class Tag(typing.NamedTuple):
    """A line of the output of ctags. A file of one language may have tags of another."""

    line: int
    language: str
    kind: str
    name: str

    def definition(self) -> Definition:
        group = group_of(self.language, self.kind)
        name = compared_name(ctags_errors.part(self.language, self.name), group)
        return Definition(self.line, name, self.kind, group, group == "prototype")


class File(typing.NamedTuple):
    language: str
    tags: list[Tag]


# By path, relative to the corpus.
Files = dict[str, File]


def text_files(corpus: str) -> list[str]:
    """Returns the paths, relative to the corpus, of files that are neither large nor binary."""
    found = []
    for directory, names, files in os.walk(corpus):
        names[:] = sorted(name for name in names if name != ".git")
        for name in sorted(files):
            path = os.path.join(directory, name)
            if path.isprintable() and is_text(path):
                found.append(os.path.relpath(path, corpus))
    return found


def is_text(path: str) -> bool:
    if os.path.islink(path) or not os.path.isfile(path) or os.path.getsize(path) > FILE_BYTES_MAX:
        return False
    with open(path, "rb") as file:
        return b"\0" not in file.read(BINARY_BYTES)


def files_of(corpus: str, cache: str | None = None) -> Files:
    """Runs ctags on all files, or reads what it printed when they were the same."""
    paths = text_files(corpus)
    command = tags_command()
    digest = digest_of(corpus, paths, command)
    if cache and os.path.exists(cache):
        with open(cache, encoding="utf-8", errors="surrogateescape", newline="\n") as lines:
            if next(lines, "").rstrip("\n") == digest:
                return read(lines)
    files = scan(corpus, paths, command)
    if cache:
        pathlib.Path(cache).write_bytes("".join([digest, "\n", *written(files)]).encode(errors="surrogateescape"))
    return files


def tags_command() -> list[str]:
    """Returns the command that prints all tags, with the declarations that are not printed by default."""
    [ctags] = tools.need("ctags")
    words = [ctags, "--options=NONE", "--sort=no", "--output-format=json", "--fields=+nKlE-P"]
    rows = tools.run([ctags, "--options=NONE", "--list-kinds-full"], text=True).stdout.splitlines()
    for language, _, kind, is_enabled, *_ in (row.split() for row in rows):
        if kind in DECLARATIONS and is_enabled == "no":
            words.append(f"--kinds-{language}=+{{{kind}}}")
    return words


def digest_of(corpus: str, paths: Iterable[str], command: Sequence[str]) -> str:
    """Returns a hash of everything that determines the tags."""
    hashed = hashlib.sha256(tools.run([command[0], "--version"]).stdout)
    hashed.update("\n".join(command).encode())
    for path in paths:
        status = os.stat(os.path.join(corpus, path))
        hashed.update(f"{path}\0{status.st_size}\0{status.st_mtime_ns}\n".encode(errors="surrogateescape"))
    return f"ctags {hashed.hexdigest()}"


def scan(corpus: str, paths: Iterable[str], command: Sequence[str]) -> Files:
    """Runs ctags on all files: for their languages, and for their tags."""
    with tools.workspace() as work:
        listed = os.path.join(work, "files")
        pathlib.Path(listed).write_bytes(b"".join(os.fsencode(path) + b"\n" for path in paths))
        files = {path: File(language, []) for path, language in languages(corpus, listed, command[0])}
        for path, tag in tags(corpus, listed, command):
            files[path].tags.append(tag)
    return files


def languages(corpus: str, listed: str, ctags: str) -> Iterator[tuple[str, str]]:
    command = [ctags, "--options=NONE", "--print-language", "-L", listed]
    for line in os.fsdecode(tools.run(command, cwd=corpus).stdout).splitlines():
        path, _, language = line.rpartition(": ")
        yield path, language


def tags(corpus: str, listed: str, command: Sequence[str]) -> Iterator[tuple[str, Tag]]:
    words = [*command, "-f", "-", "-L", listed]
    # It warns of each text that it does not understand.
    with subprocess.Popen(words, cwd=corpus, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout
        for line in process.stdout:
            row = json.loads(os.fsdecode(line))
            if row["_type"] == "tag" and "anonymous" not in row.get("extras", "").split(","):
                # Names of some languages have tabs.
                name = " ".join(row["name"].split())
                yield row["path"], Tag(row["line"], row["language"], row["kind"], name)
    if process.returncode:
        raise tools.Failure(f"exit status {process.returncode} of {' '.join(words)}")


def written(files: Files) -> Iterator[str]:
    """Returns the lines of a cache: each file, and behind it its tags."""
    for path, file in files.items():
        yield f"{file.language}\t{path}\n"
        for tag in file.tags:
            yield f"\t{tag.line}\t{tag.language}\t{tag.kind}\t{tag.name}\n"


def read(lines: Iterable[str]) -> Files:
    """Returns what `written` wrote."""
    files: Files = {}
    file = File(UNKNOWN, [])
    for line in lines:
        first, *words = line[:-1].split("\t")
        if first:
            file = files.setdefault(words[0], File(first, []))
        else:
            number, language, kind, name = words
            file.tags.append(Tag(int(number), language, kind, name))
    return files

"""Compares the answer of a server with what a naive scan found."""

import base64
import hashlib
import typing
from collections.abc import Collection

from .histories import Document

# Package, path, number, revisions and bytes of a line.
Key = tuple[str, str, int, tuple[str, ...], bytes]


def difference(answer: typing.Any, matches: Collection[tuple[Document, list[int]]]) -> str | None:
    """Compares an answer with documents and their lines: says what differs, or returns None."""
    if not answer["complete"]:
        return f"the answer is incomplete: {answer['missing']}"
    found: dict[Key, list[tuple[str | None, str]]] = {}
    expected: dict[Key, Document] = {}
    for match in answer["matches"]:
        revisions = match.get("revisions", [])
        key = match["package"], match["path"], match["line"], tuple(sorted(revisions)), bytes_of(match)
        # The first is the default one if that is among them, and has this commit.
        found.setdefault(key, []).append((match.get("commit"), match["hash"]))
    hashes = {match["hash"] for match in answer["matches"]}
    texts = set()
    for document, numbers in matches:
        lines = document.lines()
        shown = tuple(sorted(revision.short for revision in document.revisions))
        for number in numbers:
            text = lines[number - 1] if number else document.path.encode()
            expected[document.package, document.path, number, shown, text] = document
            texts.add(hashlib.sha256(document.text).digest())
    if found.keys() != expected.keys():
        return (f"{len(found)} matches of {len(expected)}\n   only trawl: {sorted(found.keys() - expected.keys())[:4]}"
                f"\n   only scan:  {sorted(expected.keys() - found.keys())[:4]}")
    if len(hashes) != len(texts):
        return f"{len(hashes)} hashes of {len(texts)} texts"
    for key, values in found.items():
        if len(values) > 1:
            return f"found twice: {key}"
        if values[0][0] != commit_of(expected[key]):
            return f"the commit of {key} is {values[0][0]}, not {commit_of(expected[key])}"
    if not answer["found"] == answer["total"] == len(expected):
        return f"{len(expected)} lines, but found is {answer['found']} and total {answer['total']}"
    unique = len({(document.text, tuple(numbers), number) for document, numbers in matches for number in numbers})
    if all(numbers != [0] for _, numbers in matches) and answer["unique"] != unique:
        return f"unique is {answer['unique']}, not {unique}"
    return None


def bytes_of(match: typing.Any) -> bytes:
    """Returns the line of a match, without its end."""
    coded = match.get("text_base64")
    text: bytes = base64.b64decode(coded) if coded else match["text"].encode()
    path: bytes = match["path"].encode()
    return text.removesuffix(b"\r") if match["line"] else path


def commit_of(document: Document) -> str | None:
    """Returns the commit of the first revision of a document: the default one comes first."""
    if not document.revisions:
        return None
    if document.default and document.default in document.revisions:
        return document.default.commit
    return min(document.revisions, key=lambda revision: revision.short.encode()).commit

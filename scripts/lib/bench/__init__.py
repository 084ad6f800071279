"""The modes of scripts/bench/bench, a module each."""

import filecmp
import os
import shutil
from collections.abc import Mapping

from .. import ripgrep, tools

QUERIES = [
    *ripgrep.QUERIES,
    ("literal", "XCreateWindow"),
    ("literal", "i3Font"),
    ("literal", "return"),
    ("literal", "printf"),
    ("regexp", r"\barse\b"),
    ("regexp", r"std::vector<.*> \w+;"),
    ("literal", "no line has this text"),
    ("regexp", "(?i)tcp_nodelay"),
]

# The queries of `server` and `memory`.
SERVED = [
    ("literal", "XCreateWindow"),
    ("literal", "TCP_NODELAY"),
    ("literal", "errno == EINTR"),
    ("regexp", r'fopen\(.*"r"'),
    ("regexp", r"std::vector<.*> \w+;"),
    ("literal", "arse"),
    ("literal", "return"),
    ("regexp", r"[a-z]+_init\s*\("),
    ("regexp", r"\barse\b"),
    ("regexp", r"[0-9]{3}-[0-9]{4}"),
]

# 30 million short lines and their pointers take 4 GB; a finished query of 10 million is kept beside
# the next one.
SPOOL_BYTES = ("--spool-bytes", "12G")


def binaries(baseline: str | None) -> dict[str, str]:
    """Returns the binaries to measure, by name."""
    named = {"trawl": tools.trawl()}
    return named | {"baseline": tools.binary(baseline)} if baseline else named


def indexes(trawls: Mapping[str, str], corpus: str, work: str) -> dict[str, str]:
    """Builds an index with each binary, and returns them by name.

    Binaries that build identical indexes share one, so that both read the same pages of memory. A directory that is an
    index is not indexed again.
    """
    if tools.is_index(corpus):
        return dict.fromkeys(trawls, corpus)
    built = {name: tools.build_index(trawl, os.path.join(work, f"index-{name}"), [corpus], "--each")
             for name, trawl in trawls.items()}
    if "baseline" in built:
        if same_files(built["trawl"], built["baseline"]):
            shutil.rmtree(built["baseline"])
            built["baseline"] = built["trawl"]
        else:
            print("the baseline builds another index: each binary searches its own")
    return built


def same_files(one: str, other: str) -> bool:
    names = sorted(set(os.listdir(one)) - {"lock"})
    if names != sorted(set(os.listdir(other)) - {"lock"}):
        return False
    return filecmp.cmpfiles(one, other, names, shallow=False)[0] == names


def search(trawl: str, index: str, mode: str, text: str, *flags: str) -> list[str]:
    return [trawl, "search", *flags, "--index", index, "--mode", mode, "--", text]


def nested(pattern: str, depth: int) -> str:
    """Returns a regular expression with the same plan and matches, but another identity.

    A frontend answers a query that it has seen from its result cache.
    """
    return "(?:" * depth + pattern + ")" * depth

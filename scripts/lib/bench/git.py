"""`bench git`: repositories as a source of an index, results that carry commits, and look-ups of commits.

The parts take turns in this order; the one that makes 10,000 repositories comes last.
"""

from collections.abc import Sequence

from .. import tools
from ..table import Goals
from . import git_branch, git_commits, git_search, git_tags

PARTS = {"tags": git_tags, "branch": git_branch, "search": git_search, "commits": git_commits}


def main(words: Sequence[str], doc: str) -> int:
    parser = tools.Arguments(doc)
    parser.add_argument("repositories", nargs="*")
    parser.add_argument("--only", action="append", choices=PARTS)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args(words)
    tools.need("git")
    trawl, table = tools.trawl(), Goals()
    for part in given.only or PARTS:
        PARTS[part].measure(table, trawl, given.repositories or [tools.ROOT], given.runs)
    return table.finish()

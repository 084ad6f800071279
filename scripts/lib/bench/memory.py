"""`bench memory`: what `trawl index` and `trawl serve` have in memory, as the kernel counts it.

Pages of mapped files, which the kernel may drop at any time, are counted too. The table shows them
separately.
"""

import concurrent.futures
import os

from .. import servers, tools
from ..connection import Connection
from ..table import row
from . import SERVED, nested
from .build import index_command, size

FIELDS = {"resident": "VmRSS", "peak": "VmHWM", "anonymous": "RssAnon", "mapped": "RssFile"}
AT_ONCE = 4


def main(corpus: str, _runs: int) -> list[str]:
    with tools.workspace() as work:
        index, spool = os.path.join(work, "index"), os.path.join(work, "spool")
        seconds, peak, _ = tools.measured(index_command(index, corpus, "--memory", "512M"))
        print(f"trawl index --memory 512M: peak {peak >> 20} MiB, {seconds:.1f} s, "
              f"{size(index) / 1e6:,.0f} MB")
        with servers.serve(tools.trawl(), index, spool) as server:
            def resident(when: str) -> None:
                row(when, [f"{server.status(field) >> 20:,}" for field in FIELDS.values()])

            def export(query: tuple[str, str]) -> int:
                mode, text = query
                with Connection(server.address) as connection:
                    return len(connection.get("/api/v2/export", q=text, mode=mode, format="text"))

            row("trawl serve, MiB", FIELDS)
            resident("after the start")
            for query in SERVED:
                export(query)
            resident(f"after {len(SERVED)} queries")
            queries = [("regexp", nested("return", depth)) for depth in range(1, AT_ONCE + 1)]
            with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
                sizes = set(pool.map(export, queries))
            resident(f"after {AT_ONCE} `return` at once")
        return ["return"] if len(sizes) != 1 else []

"""The attacks of `scripts/faults/hostile`.

`table` runs rows with one or two binaries and prints them; `corpus` makes what is searched; `attackers` are
clients that do harm, and what others notice of it. Rows: `servers` (slow, half-open and foreign clients,
one long line, shared searches), `floods` (many at once, against synthetic backends), `indexes` (what an index
may miss or count twice), `commands` (the command line).
"""

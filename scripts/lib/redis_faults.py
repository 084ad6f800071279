"""Two frontends that share decisions through a Redis that is killed, frozen, slowed, wiped and filled with garbage."""

import collections
import contextlib
import http.client
import itertools
import pathlib
import queue
import re
import signal
import threading
import time
from collections.abc import Callable, Sequence

from . import servers, tools
from .connection import Address
from .redis_server import Proxy, Redis, free_port

# Requests a second, and how many may be under way.
RATE = 40
WORKERS = 48

# A server closes connections that nobody uses; those are not used again.
IDLE_MAX_S = 3


class Load:
    """Sends requests at a fixed rate, whether or not earlier ones are answered; each caller asks both frontends."""

    def __init__(self, addresses: Sequence[Address]) -> None:
        self.addresses = addresses
        # Due time, frontend, number of the caller, and whether the caller is denied.
        self.due: queue.Queue[tuple[float, Address, int, bool]] = queue.Queue()
        self.lock, self.numbers = threading.Lock(), itertools.count()
        self.begin()
        for _ in range(WORKERS):
            threading.Thread(target=self.work, daemon=True).start()
        threading.Thread(target=self.schedule, daemon=True).start()

    def begin(self) -> None:
        with self.lock:
            self.took: list[float] = []
            self.faults: collections.Counter[str] = collections.Counter()

    def schedule(self) -> None:
        start = time.monotonic()
        for number in self.numbers:
            at = start + number / RATE
            time.sleep(max(0.0, at - time.monotonic()))
            # A caller asks one frontend, and a second later the other; every fifth may not see the file.
            caller = number // 2 - number % 2 * RATE // 2
            self.due.put((at, self.addresses[number % 2], caller, caller % 5 == 0))

    def work(self) -> None:
        connections: dict[Address, tuple[http.client.HTTPConnection | None, float]] = {}
        status: int | str
        while True:
            at, address, caller, is_denied = self.due.get()
            headers = {"cookie": "user=eve" if is_denied else "user=ann", "authorization": f"caller {caller}"}
            try:
                connection, used = connections.get(address, (None, 0.0))
                if connection is None or time.monotonic() - used > IDLE_MAX_S:
                    connection = http.client.HTTPConnection(*address, timeout=30)
                connection.request("GET", "/raw/p/closed_1/x.c", headers=headers)
                response = connection.getresponse()
                response.read()
                status, connections[address] = response.status, (connection, time.monotonic())
            except (OSError, http.client.HTTPException) as error:
                connections.pop(address, None)
                status = type(error).__name__
            with self.lock:
                self.took.append(time.monotonic() - at)
                if status != (404 if is_denied else 200):
                    self.faults[f"{'denied' if is_denied else 'allowed'}: {status}"] += 1


class Watch(threading.Thread):
    """Looks at the metrics of the frontends: hints by result, and how long their breakers were open."""

    def __init__(self, ports: Sequence[int]) -> None:
        super().__init__(daemon=True)
        self.ports, self.open_s = ports, 0.0
        self.results: collections.Counter[str] = collections.Counter()

    def run(self) -> None:
        last = time.monotonic()
        while True:
            results: collections.Counter[str] = collections.Counter()
            levels: list[str] = []
            for port in self.ports:
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
                try:
                    connection.request("GET", "/metrics")
                    text = connection.getresponse().read().decode()
                except ConnectionRefusedError:
                    return  # The servers have ended, and so does this script.
                for result, count in re.findall(r'^trawl_frontend_hints_total{.*result="(\w+)".*} (\d+)', text, re.M):
                    results[result] += int(count)
                levels += re.findall(r'^trawl_frontend_breaker_state{dependency="redis"} (\S+)', text, re.M)
            now = time.monotonic()
            if any(float(level) > 0 for level in levels):
                self.open_s += now - last
            self.results, last = results, now
            time.sleep(0.2)


def phase(name: str, load: Load, watch: Watch, seconds: float, act: Callable[[], object], again: bool) -> list[str]:
    """Acts, every 0.2 s if `again`; prints what was served meanwhile, and returns what must not have been."""
    load.begin()
    before, open_s, end = watch.results.copy(), watch.open_s, time.monotonic() + seconds
    act()
    while (left := end - time.monotonic()) > 0:
        time.sleep(min(0.2, left))
        if again:
            act()
    with load.lock:
        took, faults = sorted(load.took), dict(load.faults)
    results = ", ".join(f"{result} {count}" for result, count in sorted((watch.results - before).items()))
    p50, p99 = (1000 * took[int(part * (len(took) - 1))] if took else 0.0 for part in (0.5, 0.99))
    print(f"{name:22} {len(took):5} answers, {sum(faults.values())} wrong; p50 {p50:5.0f} ms, p99 {p99:5.0f} ms; "
          f"Redis skipped for {watch.open_s - open_s:4.1f} s; {results}", flush=True)
    return [f"{name}: {what}, {count} times" for what, count in faults.items()]


def run(service_url: str, index: str, root: pathlib.Path) -> list[str]:
    """Runs all phases against two servers over an index. Returns what was wrong."""
    tools.need("redis-server")
    trawl, secret = tools.trawl(), pathlib.Path(root) / "secret"
    secret.write_bytes(bytes(range(32)))
    redis = Redis(root)
    proxy, ports = Proxy(redis.port), [free_port(), free_port()]
    shared = ["--cache-redis", f"redis://127.0.0.1:{proxy.port}/0", "--cache-redis-secret", secret]
    try:
        with contextlib.ExitStack() as stack:
            flags = ["--public", "open", "--auth-url", service_url, *shared, "--connections-per-client", 1000]
            started = [servers.serve(trawl, index, root / f"S{port}", *flags, "--admin-listen", f"127.0.0.1:{port}")
                       for port in ports]
            load = Load([stack.enter_context(server).address for server in started])
            watch = Watch(ports)
            watch.start()

            def slow(seconds: float) -> None:
                proxy.delay = seconds

            def send(number: int) -> Callable[[], None]:
                return lambda: redis.process.send_signal(number)

            steps: list[tuple[str, float, Callable[[], object], bool]] = [
                ("as usual", 10, lambda: None, False),
                ("killed", 15, redis.stop, False),
                ("started again", 15, redis.start, False),
                ("frozen", 15, send(signal.SIGSTOP), False),
                ("goes on", 15, send(signal.SIGCONT), False),
                ("slowed to 5 s", 15, lambda: slow(5.0), False),
                ("fast again", 20, lambda: slow(0.0), False),
                ("wiped all the time", 10, lambda: redis.ask(b"FLUSHALL"), True),
                ("full of foreign data", 10, redis.foreign, True),
                ("as usual", 10, lambda: redis.ask(b"FLUSHALL"), False),
            ]
            return [fault for name, seconds, act, again in steps
                    for fault in phase(name, load, watch, seconds, act, again)]
    finally:
        redis.stop()

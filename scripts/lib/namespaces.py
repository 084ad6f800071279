"""Machines in network namespaces that a switch joins, whose links can lose packets, be cut and be slow.

`enter` starts the script again in namespaces of its own for the network, mounts and processes (`unshare`): as root, or
as a user who may make namespaces. So nothing changes on the host, and everything ends with the script, however it ends.
"""

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator

from . import engines, tools

# Set in the process that has namespaces of its own.
ENTERED = "TRAWL_SCRIPT_HAS_NAMESPACES"

FLAGS = ["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
USER_FLAGS = ["--user", "--map-root-user"]

# Machines are on 10.77.0.0/24. The script itself is a machine, and has a link of its own to each machine with clients:
# 10.78.N.0/30. These addresses exist in the namespaces alone.
SWITCH, SELF = "br0", 1

# What happens to packets that arrive on the link to the switch.
RULES = """table inet faults {
    counter lost { }
    chain input {
        type filter hook input priority 0
        RULES
    }
}"""


# Libraries of the tools, for a machine that has neither.
IPROUTE2 = ["iproute2", "libbpf1", "libbsd0", "libelf1", "libmd0", "libmnl0", "libxtables12"]
NFTABLES = ["nftables", "libnftables1", "libnftnl11", "libedit2", "libbsd0", "libmd0", "libmnl0", "libjansson4",
            "libxtables12"]


def programs() -> dict[str, str]:
    """Finds the tools, or fetches them."""
    places = {"ip": ("bin/ip", IPROUTE2), "tc": ("sbin/tc", IPROUTE2), "nft": ("usr/sbin/nft", NFTABLES)}
    return {name: engines.program(name, place, *packages) for name, (place, packages) in places.items()}


def enter() -> dict[str, str]:
    """Returns in namespaces of its own. Raises `Missing` if there are none to be had."""
    found = programs()
    if os.environ.get(ENTERED):
        return found
    unshare = ["unshare", *([] if os.getuid() == 0 else USER_FLAGS), *FLAGS]
    probe = f"mount -t tmpfs run /run && {found['ip']} netns add probe && {found['nft']} add table inet probe"
    tried = subprocess.run([*unshare, "sh", "-c", probe], stderr=subprocess.PIPE, text=True,
                           env=environment(found["ip"]))
    if tried.returncode:
        raise engines.Missing(f"network namespaces cannot be made: {tried.stderr.strip()}")
    again = subprocess.run([*unshare, sys.executable, *sys.argv], env=os.environ | {ENTERED: "1"})
    sys.exit(again.returncode)


def environment(program: str) -> dict[str, str]:
    return os.environ | engines.linker_environment(program)


class Switch:
    """A network. There is one in a process that has called `enter`."""

    def __init__(self, found: dict[str, str]) -> None:
        self.found = found
        self.machines: dict[str, Machine] = {}
        subprocess.run(["mount", "-t", "tmpfs", "run", "/run"], check=True)
        self.run("ip", "link", "set", "lo", "up")
        self.run("ip", "link", "add", SWITCH, "type", "bridge")
        self.run("ip", "addr", "add", f"10.77.0.{SELF}/24", "dev", SWITCH)
        self.run("ip", "link", "set", SWITCH, "up")

    def run(self, name: str, *words: object, text: str | None = None) -> str:
        command = [self.found[name], *map(str, words)]
        done = subprocess.run(command, input=text, capture_output=True, text=True, env=environment(command[0]))
        if done.returncode:
            raise tools.Failure(f"{' '.join(command)}: {done.stderr.strip()}")
        return done.stdout

    def machine(self, name: str, has_clients: bool = False) -> "Machine":
        return self.machines.setdefault(name, Machine(self, name, SELF + 1 + len(self.machines), has_clients))


class Machine:
    """A namespace with a link to the switch."""

    def __init__(self, switch: Switch, name: str, number: int, has_clients: bool) -> None:
        self.switch, self.name, self.address = switch, name, f"10.77.0.{number}"
        self.clients_address = f"10.78.{number}.2" if has_clients else None
        switch.run("ip", "netns", "add", name)
        self.link(name, "eth0", f"{self.address}/24")
        switch.run("ip", "link", "set", name, "master", SWITCH)
        if has_clients:
            self.link(f"{name}-out", "eth1", f"10.78.{number}.2/30")
            switch.run("ip", "addr", "add", f"10.78.{number}.1/30", "dev", f"{name}-out")
        switch.run("ip", "-n", name, "link", "set", "lo", "up")
        self.receive()

    def link(self, outside: str, inside: str, address: str) -> None:
        run = self.switch.run
        run("ip", "link", "add", outside, "type", "veth", "peer", "name", inside, "netns", self.name)
        run("ip", "-n", self.name, "addr", "add", address, "dev", inside)
        run("ip", "-n", self.name, "link", "set", inside, "up")
        run("ip", "link", "set", outside, "up")

    def command(self, words: Iterable[str]) -> list[str]:
        """Returns a command that runs here, in the same process."""
        return ["nsenter", f"--net=/run/netns/{self.name}", *words]

    def receive(self, *unless: str) -> None:
        """Loses packets that arrive and fit one of these, expressions of nftables. All others are received."""
        rules = "\n".join(f'iifname "eth0" {each} counter name lost drop' for each in unless)
        self.nft("-f", "-", text="table inet faults { }\ndelete table inet faults\n" + RULES.replace("RULES", rules))

    def lost(self) -> int:
        """Returns how many packets were lost since the rules were set."""
        found = re.search(r"packets (\d+)", self.nft("list", "counters"))
        assert found
        return int(found[1])

    def nft(self, *words: str, text: str | None = None) -> str:
        program = self.switch.found["nft"]
        return subprocess.run(self.command([program, *words]), input=text, check=True, stdout=subprocess.PIPE,
                              text=True, env=environment(program)).stdout

    def unplug(self) -> None:
        self.switch.run("ip", "link", "set", self.name, "down")

    def plug_in(self) -> None:
        self.switch.run("ip", "link", "set", self.name, "up")

    @contextlib.contextmanager
    def limited(self, rate: str) -> Iterator[None]:
        """Limits both directions of the link to a rate, such as `1mbit`."""
        for tc, device in self.ends():
            self.switch.run(*tc, "qdisc", "add", "dev", device, "root", "tbf", "rate", rate, "burst", "32kb", "latency",
                            "400ms")
        try:
            yield
        finally:
            for tc, device in self.ends():
                self.switch.run(*tc, "qdisc", "del", "dev", device, "root")

    def ends(self) -> tuple[tuple[list[str], str], tuple[list[str], str]]:
        """The ends of the link, each with what `tc` needs to find it."""
        return (["tc"], self.name), (["tc", "-n", self.name], "eth0")


def sender(machine: Machine) -> str:
    """The packets of a machine, as an expression of nftables."""
    return f"ip saddr {machine.address}"


def share(percent: int) -> str:
    """A random part of the packets."""
    return f"numgen random mod 100 < {percent}"

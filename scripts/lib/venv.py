"""Virtual environments in the target directory, for Python packages that a script needs and that are not installed."""

import os
import pathlib
import subprocess
import sys

from . import tools


def python(name: str, imports: str, *packages: str) -> str | pathlib.Path:
    """Returns a Python in which `imports` run: this one, or that of an environment with these packages."""
    if runs(sys.executable, imports):
        return sys.executable
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", tools.ROOT / "target")).absolute()
    installed = target / name / "bin" / "python"
    if not installed.exists() or not runs(installed, imports):
        print(f"== installing {' '.join(packages)}", flush=True)
        tools.run([sys.executable, "-m", "venv", target / name])
        tools.run([installed, "-m", "pip", "install", "--quiet", *packages])
    return installed


def enter(name: str, imports: str, *packages: str) -> None:
    """Goes on in a Python in which `imports` run."""
    found = python(name, imports, *packages)
    if found != sys.executable:
        os.execv(found, [str(found), *sys.argv])


def runs(program: tools.AnyPath, imports: str) -> bool:
    return subprocess.run([program, "-c", imports], stderr=subprocess.DEVNULL).returncode == 0

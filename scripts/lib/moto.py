"""moto, an object storage with the interface of Amazon S3, in Python, on loopback and a free port."""

import contextlib
import subprocess
import time
import urllib.error
import urllib.request

from . import tools, venv
from .redis_server import free_port

MOTO = "moto[server]==5.2.5"

START_MAX_S = 60


@contextlib.contextmanager
def server(bucket):
    """Starts moto with a bucket, and returns its URL."""
    port = free_port()
    python = venv.python("moto", "import moto.server, flask", MOTO)
    command = [python, "-m", "moto.server", "--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + START_MAX_S
        while True:
            try:
                request = urllib.request.Request(f"{url}/{bucket}", method="PUT")
                urllib.request.urlopen(request, timeout=10).close()
                break
            except (OSError, urllib.error.URLError) as error:
                if time.monotonic() > deadline or process.poll() is not None:
                    raise tools.Failure(f"the object storage does not start: {error}") from None
                time.sleep(0.1)
        yield url
    finally:
        process.kill()
        process.wait()

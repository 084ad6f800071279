"""Runs moto's server with one write at a time.

Moto compares the condition of a write (If-Match) before it writes, and answers requests on many threads. So of two
writers both may succeed, which Amazon S3 rules out: of 16 writers on a busy machine two did, in one of 124 rounds.
"""

import threading
from collections.abc import Callable

from moto.moto_server.werkzeug_app import DomainDispatcherApplication
from moto.server import main

WRITE = threading.Lock()

# Method of a WSGI application: of the application, the request, and a function that begins the answer.
Application = Callable[[object, dict[str, str], object], object]


def one_write_at_a_time(answer: Application) -> Application:
    def answered(application: object, environ: dict[str, str], start_response: object) -> object:
        if environ["REQUEST_METHOD"] in ("GET", "HEAD"):
            return answer(application, environ, start_response)
        with WRITE:
            return answer(application, environ, start_response)

    return answered


DomainDispatcherApplication.__call__ = one_write_at_a_time(DomainDispatcherApplication.__call__)

if __name__ == "__main__":
    main()

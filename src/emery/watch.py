# SPDX-License-Identifier: Apache-2.0
"""`./emery watch`: a run on a web page of this machine, as it goes.

The page is for this machine only: the server is bound to its loopback address, and answers nobody who calls it by another
name (so that no page of somebody else's can look, by a name of its own that leads here).
"""

import http.server
import json
import sys
import threading
import time
from contextlib import suppress
from functools import cached_property

from emery import process, report, runs
from emery.common import UserError
from emery.live import Live
from emery.pages import watching

HOST = "127.0.0.1"
_DRAW = """import sys
from emery import extension
from emery.pages import watching
sys.stdout.write(watching.diagrams(extension.chosen(sys.argv[1], sys.argv[2:])))"""
_BREATH = 0.1  # seconds between two messages to a browser
_SILENCE = 10.0  # seconds after which one is sent in any case: a browser that is gone is noticed
_LAST = 3.0  # seconds that browsers have at the end to hear of it
_ALLOWED = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src data:"


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    allow_reuse_address = False

    def __init__(self, port: int, live: Live, system, title: str):
        self.live, self.system, self.title = live, system, title
        self._drawing = threading.Lock()
        super().__init__((HOST, port), _Handler)

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://{HOST}:{self.server_port}/"

    def page(self) -> str:
        """The page."""
        return watching.page(self.system, self.title)

    def diagram(self) -> str:
        """The block diagram; it takes seconds, so a browser asks for it once the page is there."""
        with self._drawing:
            return self._diagram

    @cached_property
    def _diagram(self) -> str:
        # In a process of its own: what reads RTL lets no other thread go on, and a simulator that nobody hears waits.
        own = [x.given for x in self.system.extensions]
        done = process.run([sys.executable, "-P", "-c", _DRAW, str(self.system.folder), *own])
        if done.returncode:
            raise OSError(done.stderr)
        return done.stdout

    def handle_error(self, request, client_address):  # a browser that went away
        pass


class _Handler(http.server.BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    timeout = 60

    def log_message(self, *_):
        pass

    def _head(self, status: int, kind: str, more: dict):
        self.send_response(status)
        for name, value in {
            "Content-Type": kind,
            "Cache-Control": "no-store",
            "Content-Security-Policy": _ALLOWED,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            **more,
        }.items():
            self.send_header(name, value)
        self.end_headers()

    def _text(self, text: str, kind: str = "text/plain; charset=utf-8", status: int = 200):
        data = text.encode()
        self._head(status, kind, {"Content-Length": str(len(data))})
        if self.command != "HEAD":
            self.wfile.write(data)

    def do_GET(self):  # noqa: N802 - the name is http.server's
        """Answers."""
        if self.headers.get("Host") not in (f"{HOST}:{self.server.server_port}", f"localhost:{self.server.server_port}"):
            self._text("not here\n", status=403)
        elif self.path == "/":
            self._text(self.server.page(), "text/html; charset=utf-8")
        elif self.path == "/diagram":
            self._text(self.server.diagram(), "text/html; charset=utf-8")
        elif self.path == "/events":
            self._events()
        else:
            self._text("there is no such page\n", status=404)

    do_HEAD = do_GET  # noqa: N815

    def _events(self):
        self._head(200, "text/event-stream", {"Connection": "close"})
        self.close_connection = True
        if self.command == "HEAD":
            return
        live = self.server.live
        live.look(1)
        try:
            with suppress(OSError):
                self._tell(live)
        finally:
            live.look(-1)

    def _tell(self, live: Live):
        """Messages: `points` of curves (the first has all so far) with how it stands `now`; at last `end`."""
        seen = 0
        pause = threading.Event()
        while True:
            over = live.ended
            seen, points, now = live.since(seen, 0 if over else _SILENCE)
            if points:
                self._message("points", {"points": points, "now": now})
            elif not over:
                self.wfile.write(b": nothing new\n\n")
            self.wfile.flush()
            if over:
                self._message("end", over)
                return
            if live.ended is None:
                pause.wait(_BREATH)

    def _message(self, kind: str, data: dict):
        self.wfile.write(f"event: {kind}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n".encode())
        self.wfile.flush()


class Page:
    """A page for a run: it is there before the run, and hears the end of it whatever that is."""

    def __init__(self, port: int, tell):
        self._port, self._tell = port, tell
        self._server: _Server | None = None
        self._live: Live | None = None

    def __enter__(self):
        return self

    def __exit__(self, kind, error, _):
        if self._server is None or self._live is None:
            return
        if self._live.ended is None:
            self._live.end(
                {"status": "stopped", "words": f"It was stopped: {error or kind.__name__}" if kind else "It is over."}
            )
        self._live.alone(_LAST)
        self._server.shutdown()
        self._server.server_close()

    def run(self, system, values: dict, work, outputs: runs.Outputs, assertions: bool) -> dict:
        """Does a run as `runs.run_system` does."""
        self._live = live = Live(system, values, work)
        try:
            self._server = _Server(self._port, live, system, work.title())
        except OSError as error:
            raise UserError(f"--port {self._port}: {error.strerror}") from error
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()
        self._tell(self._server.address)
        try:
            result = runs.run_system(system, values, work, outputs, assertions, live.hear)
        except runs.IntegrityError as error:
            table = {"table": report.run_table(error.result, work.title())} if error.result else {}
            live.end({"status": "failed", "words": f"It failed: {error}", **table})
            raise
        words = f"All {result['totals']['offered']:,} frames are accounted for."
        live.end({"status": "well", "words": words, "table": report.run_table(result, work.title())})
        return result

    def stay(self):
        """Until Ctrl-C."""
        with suppress(KeyboardInterrupt):
            while True:
                time.sleep(3600)

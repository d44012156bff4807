"""Connections that fail: a server counts requests. At one of them the connection ends, stalls, goes for good, or the command is interrupted."""
import signal
import socket
import subprocess
import threading

from harness import DEADLINE, NTRACE, check

ENDS, STALLS, DIES, INTERRUPTS = "ends", "stalls", "dies", "interrupts"


class Link:
    """A server on a free port. `fail_at`: number of the request (from 1) at which `how` happens; 0: never."""

    def __init__(self, memory):
        self.memory, self.count, self.fail_at, self.how, self.running, self.closed = memory, 0, 0, ENDS, False, False
        self.process, self.started = None, threading.Event()
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port = self.server.getsockname()[1]
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def options(self):
        """Those of the command."""
        raise NotImplementedError

    def requests(self, data):
        """Divides what was received into requests and what is incomplete."""
        raise NotImplementedError

    def answer(self, request):
        raise NotImplementedError

    def run(self, arguments, fail_at=0, how=ENDS):
        """Runs the command with this connection. Returns its status and errors."""
        self.count, self.fail_at, self.how, self.memory.traces = 0, fail_at, how, False
        self.started.clear()
        with subprocess.Popen([NTRACE, *map(str, arguments), *self.options()], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL) as self.process:
            self.started.set()
            text = self.process.communicate(timeout=100)[1].decode("utf-8", "replace")
        check("Sanitizer" not in text and "runtime error:" not in text, text[-1500:])
        return self.process.returncode, text

    def serve(self):
        while not self.closed:
            try:
                one = self.server.accept()[0]
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                with one:
                    self.serve_client(one)
            except OSError:
                pass

    def serve_client(self, one):
        rest = b""
        while True:
            data = one.recv(65536)
            if not data:
                return
            requests, rest = self.requests(rest + data)
            for request in requests:
                if not self.take(one, request):
                    return

    def take(self, one, request):
        """Answers a request. At the one that fails, every other time it is performed, and only its answer is lost."""
        self.count += 1
        fails = self.count == self.fail_at
        if fails and self.how == INTERRUPTS:
            self.started.wait(DEADLINE)
            self.process.send_signal(signal.SIGINT)
            fails = False
        answer = self.answer(request) if not fails or self.count % 2 else b""
        if not fails:
            one.sendall(answer)
            return True
        if self.how == STALLS:
            while one.recv(65536):
                pass
        elif self.how == DIES:
            self.close()
        one.shutdown(socket.SHUT_RDWR)
        return False

    def close(self):
        self.closed = True
        try:
            self.server.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.server.close()


class Relay(Link):
    """Bytes to and from a real server, with the requests and the option of `kind`."""

    def __init__(self, kind, port):
        self.kind, self.real = kind, port
        super().__init__(None)

    def options(self):
        return self.kind.options(self)

    def requests(self, data):
        return self.kind.requests(self, data)

    def run(self, arguments, fail_at=0, how=ENDS):
        self.memory = self  # its member `traces` is not used
        return super().run(arguments, fail_at, how)

    @staticmethod
    def pump(source, to):
        try:
            data = source.recv(65536)
            while data:
                to.sendall(data)
                data = source.recv(65536)
            to.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def serve_client(self, one):
        with socket.create_connection(("127.0.0.1", self.real)) as other:
            threading.Thread(target=self.pump, args=(other, one), daemon=True).start()
            try:
                self.forward(one, other)
            finally:
                other.shutdown(socket.SHUT_RDWR)  # the thread reads from it

    def forward(self, one, other):
        rest = b""
        while True:
            data = one.recv(65536)
            if not data:
                return
            requests, rest = self.requests(rest + data)
            for _ in requests:
                self.count += 1
                if self.count == self.fail_at and not self.fail(one):
                    return
            other.sendall(data)

    def fail(self, one):
        """Returns whether the request goes on."""
        if self.how == INTERRUPTS:
            self.started.wait(DEADLINE)
            self.process.send_signal(signal.SIGINT)
            return True
        if self.how == STALLS:
            while one.recv(65536):
                pass
        one.shutdown(socket.SHUT_RDWR)
        return False

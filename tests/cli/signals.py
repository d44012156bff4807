#!/usr/bin/env python3
"""Each of SIGINT, SIGTERM and SIGHUP ends every command: with inputs that never end, and peers that neither answer nor read. Without the signal,
none of these commands would end.

usage: signals.py NTRACE
The commands are those of `ntrace help --as options`: one without a row here fails. On a quiet machine each ends within a second, and the
log names those that take longer; no result depends on it.
"""
import contextlib
import fcntl
import os
import pty
import signal
import socket
import subprocess
import sys
import threading
import time

sys.path.append(os.path.join(sys.path[0], ".."))
import boards
import tiny
from harness import DEADLINE, NTRACE, Run, bytes_of, case, check, equal, main, note, scratch, until, write

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
NEVER = str(10 * DEADLINE)  # seconds of limits of the commands, which are longer than this test waits
STEADY = 0.3  # seconds after which a command is where it stays: what it waits for does not change
READERS = ("profile", "coverage", "flame", "timeline", "report", "export", "top", "decode", "stat", "check", "compare", "gdb", "view", "open", "explore")
# Arguments of each command; {trace}: what never ends, {elf}: its program, {out}: a file to write
ROWS = {name: ["-e", "{elf}", "{trace}"] for name in READERS} | {
    "report": ["-o", "{out}", "-e", "{elf}", "{trace}"],
    "gdb": ["--stdio", "-e", "{elf}", "{trace}"],
    "open": ["--no-browser", "-e", "{elf}", "{trace}"],
    "explore": ["--ask", '{"query":"functions"}', "-e", "{elf}", "{trace}"],
    "compare": ["-e", "{elf}", "{trace}", "{sound}"],
    "diff": ["-e", "{elf}", "{trace}", "{sound}"],
    "export": ["--to", "calltree", "-e", "{elf}", "{trace}"],
    "encode": ["-e", "{elf}", "--pc", "{pcs}"],
    "combine": ["{trace}", "profile"],
    "dump": ["{trace}"],
    "convert": ["--to", "pib4", "{trace}"],
    "split": ["--src-bits", "2", "-o", "{out}", "{trace}"],
    "merge": ["{trace}", "{sound}"],
    "assemble": ["{text}"],
    "capture": ["-t", "{trace}", "--exec", "cat", "-o", "{out}"],
    "probe": ["-t", "{trace}", "--exec", "cat"],
    "board": ["{trace}", "--stdio"],
    "run": ["-q", "-o", "{out}", "--topology", "{trace}", "{elf}"],
    "doctor": [], "regs": [], "help": ["--as", "options"],
}
NO_INPUT = ("doctor", "regs", "help")  # short, and nothing to read


def commands():
    return sorted({line.split("\t")[1] for line in Run("help", "--as", "options").lines() if line.startswith("option\t")})


def filled():
    """The two ends of a pipe that nobody reads, and that has no room."""
    ends = os.pipe()
    fcntl.fcntl(ends[1], fcntl.F_SETPIPE_SZ, 4096)
    os.write(ends[1], bytes(4096))
    return ends


class Source:
    """A FIFO into which a thread writes `content` for ever, or nothing."""

    def __init__(self, path, content=b"", begin=b""):
        self.path, self.content, self.begin = path, content, begin
        os.mkfifo(path)
        self.fd = os.open(path, os.O_RDWR)
        self.ended = False
        if content:
            self.thread = threading.Thread(target=self.feed, daemon=True)
            self.thread.start()

    def feed(self):
        fcntl.fcntl(self.fd, fcntl.F_SETFL, os.O_NONBLOCK)
        data = self.begin
        while not self.ended:
            try:
                data = data[os.write(self.fd, data):] or self.content
            except BlockingIOError:
                time.sleep(0.002)

    def close(self):
        self.ended = True
        if self.content:
            self.thread.join()
        os.close(self.fd)
        os.unlink(self.path)


def ends(line, number, stdin=None, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, steady=None):
    """Runs a command until it is where it stays, sends the signal, and returns after how many seconds it ended and its status."""
    def before():
        for each in SIGNALS:
            signal.signal(each, signal.SIG_DFL)  # nohup ignores SIGHUP
    with subprocess.Popen(line, stdin=stdin or subprocess.DEVNULL, stdout=stdout, stderr=stderr, cwd=scratch(), preexec_fn=before,
                          env=dict(os.environ, XDG_CACHE_HOME=scratch())) as child:
        try:
            if steady:
                until(lambda: child.poll() is not None or steady(child), "the command waits")
            else:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    child.wait(STEADY)
            if child.poll() is not None:
                return None, child.returncode
            child.send_signal(number)
            begin = time.monotonic()
            try:
                child.wait(DEADLINE)
            except subprocess.TimeoutExpired:
                return DEADLINE, None
            return time.monotonic() - begin, child.returncode
        finally:
            child.kill()


def arguments(name, source):
    place = os.path.join(scratch(), "out")
    os.makedirs(place, exist_ok=True)
    values = {"elf": write("tiny.elf", tiny.elf()), "sound": write("sound.nex", bytes_of(tiny.HTM)), "out": os.path.join(place, "x"),
              "trace": source, "pcs": source, "text": source}
    words = []
    for word in ROWS[name]:
        for key, value in values.items():
            word = word.replace("{" + key + "}", value)
        words.append(word)
    return [NTRACE, name, *words]


def contents(name):
    """What never ends, for a command: its beginning, and what follows again and again."""
    if name == "encode":
        return b"", b"".join(b"%#x\n" % pc for pc in (0x206, 0x208)) * 100
    if name == "assemble":
        return b"", b"DirectBranch ICNT=3\n" * 100
    if name in ("capture", "probe", "board", "run"):
        return b'{"components": [', b" " * 4096
    if name == "combine":
        return b"", b"ntrace" * 500
    return bytes_of(tiny.TURNS), bytes_of("DirectBranch ICNT=3\n") * 2000


def judge(results):
    slow = [what for what, seconds, _ in results if seconds and seconds >= DEADLINE]
    check(not slow, f"after {DEADLINE} s there are still: {'; '.join(slow)}")


@case("every command has a row")
def _():
    equal(sorted(ROWS), commands(), "rows")


def each(kind, names, run):
    results = []
    for name in names:
        for number in SIGNALS:
            seconds, status = run(name, number)
            results.append((f"{kind}: {name}, {number.name}", seconds, status))
            if seconds and seconds > 1:
                note(f"{results[-1][0]}: {seconds:.2f} s")
    judge(results)


@case("what nobody reads does not hold a command that is asked to end: its answer, its messages; nor does an input before a connection")
def _():
    """Three of the ways that the long cases go through."""
    rows = [("profile", {"stdout": None}), ("top", {"stderr": None}), ("capture", {})]
    results = []
    for name, streams in rows:
        begin, content = contents(name) if streams else (b"", b"")
        source = Source(os.path.join(scratch(), "short"), content, begin)
        reading, writing = filled()
        try:
            results.append((name, *ends(arguments(name, source.path), signal.SIGTERM, **dict.fromkeys(streams, writing))))
        finally:
            source.close()
            os.close(reading)
            os.close(writing)
    judge(results)


@case("an input that is open, and sends nothing", long=True)
def _():
    def run(name, number):
        source = Source(os.path.join(scratch(), "silent"))
        try:
            return ends(arguments(name, source.path), number)
        finally:
            source.close()
    each("silent", [name for name in ROWS if name not in NO_INPUT], run)


@case("an input that never ends", long=True)
def _():
    def run(name, number):
        begin, content = contents(name)
        source = Source(os.path.join(scratch(), "endless"), content, begin)
        try:
            return ends(arguments(name, source.path), number)
        finally:
            source.close()
    each("endless", [name for name in ROWS if name not in NO_INPUT], run)


@case("a standard output that nobody reads", "stdout", long=True)
@case("messages that nobody reads", "stderr", long=True)
def _(stream):
    def run(name, number):
        begin, content = contents(name)
        source = Source(os.path.join(scratch(), "endless"), content if stream == "stdout" else b"\x7f\x03junk" * 1000, begin)
        reading, writing = filled()
        try:
            return ends(arguments(name, source.path), number, **{stream: writing})
        finally:
            source.close()
            os.close(reading)
            os.close(writing)
    each(stream, ROWS, run)


# ---- peers


class Peer:
    """A TCP server: "silent" accepts and never answers, "floods" sends without end and reads nothing, "deaf" lets nobody in."""

    def __init__(self, kind):
        self.kind, self.ended, self.clients = kind, False, []
        self.server = socket.socket()
        self.server.bind(("127.0.0.1", 0))
        self.server.listen(0)
        self.place = "127.0.0.1:%d" % self.server.getsockname()[1]
        if kind == "deaf":  # the queue of those who wait is full
            for _ in range(4):
                client = socket.socket()
                client.setblocking(False)
                with contextlib.suppress(BlockingIOError):
                    client.connect(self.server.getsockname())
                self.clients.append(client)
        else:
            self.thread = threading.Thread(target=self.serve, daemon=True)
            self.thread.start()

    def serve(self):
        self.server.settimeout(0.05)
        flood = b"".join(packet(b"O41") for _ in range(1000)) + b"0 0x1\n\x1a" * 1000
        while not self.ended:
            with contextlib.suppress(TimeoutError):
                self.clients.append(self.server.accept()[0])
                self.clients[-1].setblocking(False)
            while self.kind == "floods" and self.clients and not self.ended:
                try:
                    self.clients[-1].send(flood)
                except BlockingIOError:
                    time.sleep(0.001)
                except OSError:
                    break

    def close(self):
        self.ended = True
        if self.kind != "deaf":
            self.thread.join()
        for each_ in (*self.clients, self.server):
            each_.close()


def packet(data):
    return b"$" + data + b"#%02x" % (sum(data) & 255)


TOPOLOGY = b'{"components": [{"name": "te0", "type": "encoder", "base": "0x10000000", "hart": 0, "to": "ram"}, ' \
    b'{"name": "ram", "type": "ram", "base": "0x10020000", "sram": 65536}]}'


@case("a server that is silent, floods, or lets nobody in", "silent", long=True)
@case("a server that is silent, floods, or lets nobody in", "floods", long=True)
@case("a server that is silent, floods, or lets nobody in", "deaf", long=True)
def _(kind):
    elf, topology = write("tiny.elf", tiny.elf()), write("topology", TOPOLOGY)
    lines = {f"{command} --{option}": [command, "-t", topology, f"--{option}", "{place}", "--timeout", NEVER + "000", *more]
             for command, more in (("probe", []), ("capture", ["--for", NEVER + "s", "-o", os.path.join(scratch(), "peer.ntrace")])) for option in ("openocd", "gdb")}
    lines |= {name: [name, "tcp:{place}", *more] for name, more in (("top", ["-e", elf]), ("dump", []), ("stat", ["-e", elf]), ("decode", ["-f", "-e", elf]),
                                                                    ("profile", ["-f", "-e", elf]))}
    lines["board --target"] = ["board", topology, "--gdb-port", "0", "--target", "{place}"]

    def run(name, number):
        peer = Peer(kind)
        try:
            return ends([NTRACE, *(word.replace("{place}", peer.place) for word in lines[name])], number)
        finally:
            peer.close()
    each(kind, lines, run)


HELPERS = {"silent": "trap '' TERM INT HUP; while :; do sleep 1; done", "floods": "trap '' TERM INT HUP; yes error 0x1",
           "its child": "trap '' TERM INT HUP; (trap '' TERM INT HUP; sleep 1000) & cat >/dev/null; sleep 1000"}


@case("a helper that ignores signals ends with the command", "silent", long=True)
@case("a helper that ignores signals ends with the command", "floods", long=True)
@case("a helper that ignores signals ends with the command", "its child", long=True)
def _(kind):
    topology = write("topology", TOPOLOGY)
    lines = {command: [NTRACE, command, "-t", topology, "--exec", HELPERS[kind], "--timeout", NEVER + "000", *more]
             for command, more in (("probe", []), ("capture", ["--for", NEVER + "s", "-o", os.path.join(scratch(), "helper.ntrace")]))}
    each(f"helper, {kind}", lines, lambda name, number: ends(lines[name], number))


def clients():
    """Commands that listen, and what their client sends."""
    elf, trace = write("tiny.elf", tiny.elf()), write("sound.nex", bytes_of(tiny.HTM))
    topology = write("topology", TOPOLOGY)
    yield "gdb", ["gdb", "--listen", "{port}", "-e", elf, trace], packet(b"qXfer:features:read:target.xml:0,ffb") * 1000
    yield "gdb, a part", ["gdb", "--listen", "{port}", "-e", elf, trace], b"$qXfer:features"
    yield "open", ["open", "--no-browser", "--listen", "{port}", "-e", elf, trace], b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 1000
    yield "open, a part", ["open", "--no-browser", "--listen", "{port}", "-e", elf, trace], b"POST /ask/0 HTTP/1.1\r\nContent-Length: 99999\r\n"
    yield "board", ["board", topology, "--bitbang", "{port}"], b"R" * 100000
    yield "board, nothing", ["board", topology, "--bitbang", "{port}"], b""


@case("a client that sends, and never reads", long=True)
def _():
    rows = {name: (words, sent) for name, words, sent in clients()}

    def run(name, number):
        words, sent = rows[name]
        port = boards.free_port()
        with contextlib.ExitStack() as stack:
            def steady(child):
                with contextlib.suppress(ConnectionRefusedError):
                    client = socket.create_connection(("127.0.0.1", port))
                    stack.enter_context(client)
                    client.setblocking(False)
                    for _ in range(200):
                        with contextlib.suppress(OSError):
                            client.send(sent)
                        time.sleep(0.001)
                    return True
                return False
            return ends([NTRACE, *(word.replace("{port}", str(port)) for word in words)], number, steady=steady)
    each("client", rows, run)


@case("gdb: a debugger that ignores signals", long=True)
def _():
    program = write("debugger", b"#!/bin/sh\ntrap \'\' TERM INT HUP\ncase \"$*\" in *architecture*) echo riscv:rv64; exit;; esac\nwhile :; do sleep 1; done\n")
    hang = write("hangs", b"#!/bin/sh\ntrap \'\' TERM INT HUP\nwhile :; do sleep 1; done\n")
    os.chmod(program, 0o755)
    os.chmod(hang, 0o755)
    elf, trace = write("tiny.elf", tiny.elf()), write("sound.nex", bytes_of(tiny.HTM))
    lines = {name: [NTRACE, "gdb", "--debugger", name, "-e", elf, trace] for name in (program, hang)}
    # SIGINT, the ^C of the terminal, is the debugger's: GDB stops the program, and does not end
    each("debugger", lines, lambda name, number: (None, 0) if name == program and number == signal.SIGINT else ends(lines[name], number))


@case("view in a terminal", long=True)
def _():
    elf, trace = write("tiny.elf", tiny.elf()), write("sound.nex", bytes_of(tiny.HTM))

    def run(name, number):
        inside, outside = pty.openpty()
        try:
            return ends([NTRACE, "view", "-e", elf, trace], number, stdin=outside, stdout=outside)
        finally:
            os.close(inside)
            os.close(outside)
    each("terminal", ["view"], run)


main()

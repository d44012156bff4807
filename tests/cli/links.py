"""Connections that fail: servers for helpers, OpenOCD's Tcl port and GDB packets in front of `ntrace board --stdio`.

A server counts requests. At one of them the connection ends, stalls, goes for good, or the command is interrupted. Rules change the values
that are read, as broken hardware does.
"""
import os
import re
import shutil
import signal
import socket
import subprocess
import threading

from harness import NTRACE, check

CLIENT = 'exec 3<>/dev/tcp/127.0.0.1/%d || exit 1; { cat <&3; kill 0; } & cat >&3; kill 0'
ENDS, STALLS, DIES, INTERRUPTS = "ends", "stalls", "dies", "interrupts"


class Failed(Exception):
    """An access that the hardware refuses."""


class Memory:
    """The registers of the board, changed by rules. A rule has "from" and perhaps "to" (addresses), and what happens: "error" (a reason),
    "and" and "or" (of the values read), "deaf" (writes reach Active only); "later": from the first trTeInstTracing on; "trigger" is the
    address of trTeControl."""

    def __init__(self, topology, arguments, rules=()):
        self.board = subprocess.Popen([NTRACE, "board", topology, "--stdio", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      text=True, bufsize=1)
        self.rules, self.traces, self.lock = rules, False, threading.Lock()

    def ask(self, line):
        with self.lock:
            self.board.stdin.write(line + "\n")
            self.board.stdin.flush()
            answer = self.board.stdout.readline().strip()
        if answer.startswith("error"):
            raise Failed(answer[6:])
        return answer

    def rules_at(self, address):
        return [rule for rule in self.rules
                if rule["from"] <= address <= rule.get("to", rule["from"]) and (self.traces or not rule.get("later"))]

    def read(self, address):
        for rule in self.rules_at(address):
            if "error" in rule:
                raise Failed(rule["error"])
            return self.plain(address) & rule.get("and", 0xffffffff) | rule.get("or", 0)
        return self.plain(address)

    def plain(self, address):
        return int(self.ask(f"r {address:#x}"), 16)

    def write(self, address, value):
        if address & 0xfffff000 == 0x10000000 and not address & 0xfff and value & 4:
            self.traces = True
        for rule in self.rules_at(address):
            if "error" in rule:
                raise Failed(rule["error"])
            if rule.get("deaf"):
                if not address & 0xfff:
                    self.ask(f"w {address:#x} {value & 1:#x}")
                return
        self.ask(f"w {address:#x} {value:#x}")

    def end(self):
        self.board.stdin.close()
        self.board.wait(20)
        self.board.stdout.close()


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
            self.started.wait(20)
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


class Helper(Link):
    def options(self):
        return ["--exec", f"bash -c '{CLIENT % self.port}'"]

    def requests(self, data):
        *lines, rest = data.split(b"\n")
        return lines, rest

    def answer(self, request):
        words = request.decode().split()
        try:
            if words[0] == "w":
                self.memory.write(int(words[1], 16), int(words[2], 16))
                return b"ok\n"
            return b"0x%08x\n" % self.memory.read(int(words[1], 16))
        except Failed as why:
            return f"error {why}\n".encode()


class Tcl(Link):
    """OpenOCD's Tcl port: what `list [catch {COMMAND} r] $r` returns, as the real one does (tests/cli/target.py compares them)."""

    def options(self):
        return ["--openocd", f"127.0.0.1:{self.port}"]

    def requests(self, data):
        *commands, rest = data.split(b"\x1a")
        return commands, rest

    def answer(self, request):
        command = re.fullmatch(r"list \[catch \{(.*)\} r\] \$r", request.decode())
        try:
            text = f"0 {{{self.result(command[1])}}}"
        except Failed as why:
            text = f"1 {{{why}}}"
        return text.encode() + b"\x1a"

    def result(self, command):
        one = re.fullmatch(r"read_memory (0x[0-9a-f]+) 32 (\d+) phys", command)
        many = re.fullmatch(r"set r \{\}; for .*\{\$i < (\d+)\} .*\[read_memory (0x[0-9a-f]+) 32 1 phys\] .*", command)
        store = re.fullmatch(r"write_memory (0x[0-9a-f]+) 32 \{(0x[0-9a-f]+)\} phys", command)
        why = re.fullmatch(r"capture \{catch \{mdw phys (0x[0-9a-f]+)\}\}", command)
        try:
            if one:
                return " ".join(f"{self.memory.read(int(one[1], 16) + 4 * i):#x}" for i in range(int(one[2])))
            if many:
                return "".join(f"{self.memory.read(int(many[2], 16)):#x} " for _ in range(int(many[1])))
        except Failed as reason:
            raise Failed("read_memory: failed to read memory") from reason
        if store:
            self.memory.write(int(store[1], 16), int(store[2], 16))
        if why:
            try:
                self.memory.read(int(why[1], 16))
            except Failed as reason:
                return str(reason)
        return {"version": "Open On-Chip Debugger 0.12.0", "info commands read_memory": "read_memory",
                "[target current] curstate": "running"}.get(command, "")


class Gdb(Link):
    """A GDB server that is neither OpenOCD nor QEMU. `hides`: it answers failed reads with zeros."""
    hides = False

    def options(self):
        return ["--gdb", f"127.0.0.1:{self.port}"]

    def requests(self, data):
        found, at = [], 0
        for one in re.finditer(rb"\x03|\$([^#]*)#..", data, re.DOTALL):
            found.append(one[1] if one[1] is not None else b"\x03")
            at = one.end()
        return found, data[at:].lstrip(b"+-")

    def answer(self, request):
        text = self.result(request.decode())
        return b"" if text is None else f"+${text}#{sum(text.encode()) & 255:02x}".encode()

    def result(self, packet):
        fixed = {"QStartNoAckMode": "OK", "?": "S05", "D": "OK", "c": None, "\x03": "S02"}
        if packet in fixed:
            return fixed[packet]
        if packet.startswith("qSupported"):
            return "PacketSize=1000;QStartNoAckMode+"
        read, store = re.fullmatch(r"m([0-9a-f]+),([0-9a-f]+)", packet), re.fullmatch(r"M([0-9a-f]+),4:([0-9a-f]{8})", packet)
        try:
            if read:
                words = range(0, int(read[2], 16), 4)
                return "".join(self.memory.read(int(read[1], 16) + at).to_bytes(4, "little").hex() for at in words)
            if store:
                self.memory.write(int(store[1], 16), int.from_bytes(bytes.fromhex(store[2]), "little"))
                return "OK"
        except Failed:
            return "0" * (2 * int(read[2], 16)) if self.hides and read else "OK" if self.hides else "E0E"
        return ""


class HidingGdb(Gdb):
    hides = True


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
            self.started.wait(20)
            self.process.send_signal(signal.SIGINT)
            return True
        if self.how == STALLS:
            while one.recv(65536):
                pass
        one.shutdown(socket.SHUT_RDWR)
        return False


KINDS = {"helper": Helper, "OpenOCD": Tcl, "GDB": Gdb}


def available(kind):
    return kind is not Helper or shutil.which("bash") is not None

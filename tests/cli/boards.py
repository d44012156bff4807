"""The virtual board for tests: a program, what it executes, and `ntrace board` behind OpenOCD, QEMU and helpers."""
import contextlib
import os
import re
import signal
import socket
import subprocess

from harness import DEADLINE, NTRACE, ROOT, check, need, scratch, until, write

TOPOLOGY = """{"components": [
  {"name": "te0", "type": "encoder", "base": "0x10000000", "hart": 0, "to": "funnel:0"},
  {"name": "funnel", "type": "funnel", "base": "0x10010000", "to": "ram"},
  {"name": "ram", "type": "ram", "base": "0x10020000", "sram": 1024}]}"""
SOURCE = """
.globl _start
_start: li t0, 0
1: addi t0, t0, 1
 andi t1, t0, 7
 bnez t1, 1b
 call f
 j 1b
f: addi a0, a0, 3
 ret
"""


def program():
    """A bare-metal program, and what it executes in ten rounds: from the addresses of its instructions alone."""
    compiler = need("riscv64-linux-gnu-gcc")
    elf = os.path.join(scratch(), "bare")
    if not os.path.exists(elf):
        source = write("bare.S", SOURCE.encode())
        subprocess.run([compiler, "-march=rv64i", "-mabi=lp64", "-nostdlib", "-static", "-Wl,-n,-Ttext=0x80000000,--build-id=none",
                        "-o", elf, source], check=True)
    loop, call, back, function = 0x80000004, 0x80000010, 0x80000014, 0x80000018
    pcs = [0x80000000]
    for _ in range(10):
        pcs += [loop, loop + 4, loop + 8] * 8 + [call, function, function + 4, back]
    return elf, write("bare.pc", "".join(f"{pc:#x}\n" for pc in pcs).encode()), pcs


def topology(text=TOPOLOGY):
    return write("soc.json", text.encode())


PATIENCE = DEADLINE  # seconds in which a server ends when it is asked to


class Process:
    """A server that says on standard error where it listens."""

    def __init__(self, *command):
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                                        start_new_session=True)

    def port(self, pattern):
        for line in self.process.stderr:
            found = re.search(pattern, line.decode())
            if found:
                return int(found.group(1))
        raise AssertionError("the server has ended")

    def __enter__(self):
        return self

    def __exit__(self, failure=None, *_):
        try:
            self.process.terminate()
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)  # also what it has started
            self.process.wait()
            if not failure:
                raise
        finally:
            self.process.stderr.close()


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def wait_for_listener(port):
    """Until a program listens on the port, whose only client is not to be this test."""
    listens = re.compile(rf"^ *\d+: [0-9A-F]+:{port:04X} [0-9A-F:]+ 0A ", re.M)

    def listening():
        with open("/proc/net/tcp", encoding="ascii") as file:
            return listens.search(file.read())

    until(listening, f"a program that listens on port {port}")


class Board:
    """ntrace board behind OpenOCD's Tcl port."""

    def __init__(self, *arguments, text=TOPOLOGY, joins=None, harts=1):
        """`joins`: QEMU and a firmware, to be started with the options that the board shows."""
        openocd = need("openocd")
        with contextlib.ExitStack() as started:
            self.begin(started, openocd, arguments, text, joins, harts)
            self.started = started.pop_all()

    def begin(self, started, openocd, arguments, text, joins, harts):
        """Whatever fails, what was started ends."""
        self.board = started.enter_context(Process(NTRACE, "board", topology(text), "--bitbang", "0", *arguments))
        if joins:
            self.start(started, *joins)
        bitbang = self.board.port(r"remote_bitbang listens on 127\.0\.0\.1:(\d+)")
        if "--gdb-port" in arguments:
            self.front = self.board.port(r"GDB listens on 127\.0\.0\.1:(\d+)")
        self.port, self.gdb_port = free_port(), free_port()
        with open(os.path.join(ROOT, "examples/board/openocd.cfg"), encoding="utf-8") as file:
            config = file.read().replace("9824", str(bitbang)).replace("tcl_port 6666", f"tcl_port {self.port}")
            config = config.replace("gdb_port disabled", f"gdb_port {self.gdb_port}")
            for hart in range(1, harts):
                config += f"\ntarget create board.cpu{hart} riscv -chain-position board.cpu -coreid {hart}\n"
        server = started.enter_context(Process(openocd, "-f", write("openocd.cfg", config.encode())))
        for line in server.process.stderr:
            if b"for gdb connections" in line or b"Error" in line:
                check(b"Error" not in line, line.decode())
                break
        # the rest of the log must not fill the pipe
        subprocess.Popen(["cat"], stdin=server.process.stderr, stdout=subprocess.DEVNULL)

    def start(self, started, qemu, firmware):
        for line in self.board.process.stderr:
            found = re.search(r"options for \S+: (.*)", line.decode())
            if found:
                break
        started.enter_context(Process("timeout", "-s", "KILL", "200", qemu, "-M", "virt", "-display", "none", "-serial", "none", "-monitor", "none",
                                      "-bios", firmware, *found[1].split()))
        wait_for_listener(int(re.search(r"tcp:[^:]*:(\d+)", found[1])[1]))

    def openocd(self):
        """The options with which a command reaches the board. The limit is for what hangs: OpenOCD may be slow on a busy machine."""
        return ["--openocd", f"127.0.0.1:{self.port}", "--timeout", 1000 * DEADLINE]

    def ask(self, command):
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as one:
            one.sendall(command.encode() + b"\x1a")
            answer = b""
            while not answer.endswith(b"\x1a"):
                answer += one.recv(65536)
        return answer[:-1].decode()

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self.started.__exit__(*failure)


def helper(*arguments):
    return " ".join([NTRACE, "board", topology(), "--stdio", *arguments])


def follows(found, pcs):
    """The program counters are a part of the recorded execution, repeated."""
    check(len(found) > 50, f"{len(found)} program counters")
    ring = [f"{pc:#x}" for pc in pcs]
    text, rounds = "\n".join(ring), len(found) // len(ring) + 2
    check("\n".join(found) in "\n".join([text] * rounds), "the decoded program counters are not those that ran")

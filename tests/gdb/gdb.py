"""Functions shared by the tests of this folder: GDB with a list of commands, and the server without a GDB."""
import os
import re
import shutil
import subprocess
import sys

import user_qemu
from harness import NTRACE, Failure, Run, bytes_of, check, scratch, skip, write

PROGRAMS = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else "."
LIBRARIES = "/usr/riscv64-linux-gnu"
QUIET = ["set remotetimeout 60", "set pagination off", "set confirm off", "set width 0", "set print finish off", "set print frame-arguments none",
         "set print entry-values no"]

# Runs commands one after the other, also after one has failed, and prints them.
DRIVER = """
import gdb
for line in open({path!r}):
    print("> " + line.rstrip(), flush=True)
    try:
        print(gdb.execute(line.rstrip(), to_string=True), end="", flush=True)
    except gdb.error as problem:
        print("error: " + str(problem), flush=True)
"""


def debuggers():
    """GDBs that know RISC-V: NTRACE_TEST_GDB, or gdb-multiarch."""
    names = os.environ.get("NTRACE_TEST_GDB", "gdb-multiarch").split()
    found = [name for name in names if shutil.which(name)]
    return found or skip("gdb-multiarch")


def program(name):
    path = os.path.join(PROGRAMS, name)
    if not os.path.exists(path):
        skip("riscv-program")
    return path


def bundle(name, *options):
    """The program's trace, made once."""
    path = os.path.join(scratch(), "".join([name, *options]).replace("/", "") + ".ntrace")
    if not os.path.exists(path):
        same = user_qemu.for_ntrace(user_qemu.repeatable(32 if "32" in name else 64))
        done = subprocess.run([NTRACE, "run", "-q", *same, *options, "-o", path, "--", program(name)], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, timeout=120)
        check(os.path.exists(path), f"ntrace run {name}: {done.stderr[-500:]}")
    return path


def damaged():
    """A bundle whose stream has bytes with the reserved MSEO in the middle: a gap wherever they are. The stream is not the same on every
    machine, and other bytes may look like messages."""
    path = bundle("calls", "--mode", "btm", "--no-compress")
    with open(os.path.join(path, "trace.nex"), "rb") as file:
        stream = file.read()
    copy = os.path.join(scratch(), "gap.ntrace")
    if not os.path.exists(copy):
        subprocess.run(["cp", "-r", path, copy], check=True)
        middle = len(stream) // 2
        with open(os.path.join(copy, "trace.nex"), "wb") as file:
            file.write(stream[:middle] + bytes([0x02] * 40) + stream[middle + 40:])
    counts = dict(line.split() for line in Run("decode", "--show", "count", copy, status=1).lines())
    check(int(counts["gaps"]) > 0, "the damage made no gap")
    return copy


def long_loop():
    """A stream of a loop, whose search takes seconds, and its options."""
    loop = write("loop.bin", bytes.fromhex("3305c500" "e30ec5fe" "13000000"))  # add; beq to it; nop
    stream = write("loop.nex", bytes_of("ProgTraceSync SYNC=3 ICNT=0 FADDR=0x800\n" + "ResourceFull RCODE=1 RDATA0=0x7fffffff\n" * 400000))
    return stream, "--raw", f"{loop}@0x1000", "--xlen", "64", "--src-bits", "0"


def run_gdb(gdb, path, target, lines, setup=(), timeout=900):
    """Lines that GDB prints for the commands; `setup` before the program is read."""
    commands = os.path.join(scratch(), f"commands-{os.getpid()}")
    driver = commands + ".py"
    with open(commands, "w") as file:
        file.write("\n".join(lines) + "\n")
    with open(driver, "w") as file:
        file.write(DRIVER.format(path=commands))
    arguments = [gdb, "-nx", "-q", "-batch"]
    for line in [*QUIET, *setup]:
        arguments += ["-iex", line]
    done = subprocess.run([*arguments, *([path] if path else []), "-ex", f"target remote {target}", "-x", driver], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=timeout, stdin=subprocess.DEVNULL)
    return done.stdout.splitlines()


def server(path, *options):
    return " ".join(["|", NTRACE, "gdb", "--stdio", path, *options])


class Session:
    """The server, spoken to by packets."""

    def __init__(self, path, *options):
        self.process = subprocess.Popen([NTRACE, "gdb", "--stdio", path, *options], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.console = ""
        check(self.ask("QStartNoAckMode") == "OK", "no answer to QStartNoAckMode")

    def send(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def receive(self):
        """The content of the next packet; None when the server has gone."""
        file = self.process.stdout
        while (byte := file.read(1)) not in (b"$", b""):
            pass
        if not byte:
            return None
        data = b""
        while (byte := file.read(1)) not in (b"#", b""):
            data += byte
        expected, found = sum(data) & 255, int(file.read(2) or b"0", 16)
        check(expected == found, f"checksum of {data!r}: expected {expected:02x}, found {found:02x}")
        return re.sub(rb"}(.)", lambda m: bytes([m.group(1)[0] ^ 0x20]), data, flags=re.S).decode("latin-1")

    def ask(self, packet):
        data = packet.encode("latin-1") if isinstance(packet, str) else packet
        self.send(b"$" + data + b"#%02x" % (sum(data) & 255))
        answer = self.receive()
        while answer and re.fullmatch("O[0-9a-f]+", answer):
            self.console += bytes.fromhex(answer[1:]).decode()
            answer = self.receive()
        return answer

    def monitor(self, command):
        answer = self.ask("qRcmd," + command.encode().hex())
        return "" if answer == "OK" else bytes.fromhex(answer).decode()

    def pc(self, stop=None):
        """The program counter, of a stop reply or asked for."""
        found = re.search(r"[;:]20:([0-9a-f]+);", stop) if stop else None
        return int.from_bytes(bytes.fromhex(found.group(1) if found else self.ask("p20")), "little")

    def close(self):
        self.process.stdin.close()
        self.process.stdout.read()
        error = self.process.stderr.read().decode()
        self.process.wait(timeout=60)
        if "Sanitizer" in error or self.process.returncode < 0:
            raise Failure(error[-2000:])
        return self.process.returncode

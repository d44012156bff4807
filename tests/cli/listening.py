#!/usr/bin/env python3
"""No server listens beyond the loopback interface unless asked, and then it warns: what the kernel says of the sockets of the process."""
import ipaddress
import os
import re
import socket
import struct
import subprocess
import sys
import threading

sys.path.append(os.path.join(sys.path[0], ".."))
import boards
import tiny
from boards import Process, topology
from harness import NTRACE, Run, bytes_of, case, check, equal, main, matches, scratch, until, write

LISTEN, HAS_V6 = "0A", os.path.exists("/proc/net/if_inet6")


def address(text):
    """Of /proc/net/tcp and tcp6: words of 32 bits in the machine's byte order."""
    words = [int(text[at:at + 8], 16) for at in range(0, len(text), 8)]
    return str(ipaddress.ip_address(struct.pack(f"={len(words)}I", *words)))


def listeners(pid):
    """The addresses at which a process listens."""
    inodes, found = set(), []
    for name in os.listdir(f"/proc/{pid}/fd"):
        try:
            inodes.update(re.findall(r"^socket:\[(\d+)\]$", os.readlink(f"/proc/{pid}/fd/{name}")))
        except FileNotFoundError:
            continue  # closed since
    for table in "tcp", "tcp6":
        if not os.path.exists(f"/proc/{pid}/net/{table}"):
            continue
        with open(f"/proc/{pid}/net/{table}", encoding="ascii") as file:
            rows = [line.split() for line in list(file)[1:]]
        found += [address(row[1].split(":")[0]) for row in rows if row[3] == LISTEN and row[9] in inodes]
    return sorted(found)


def served(process, what):
    """The lines up to the one of the last server, and the addresses."""
    lines = [process.process.stderr.readline().decode()]
    while lines[-1] and not re.search(what, lines[-1]):
        lines.append(process.process.stderr.readline().decode())
    check(lines[-1], "".join(lines))
    return lines, listeners(process.process.pid)


@case("what is read from the kernel: a socket of this test at each address")
def kernel():
    for where in ("127.0.0.1", "0.0.0.0"):
        with socket.create_server((where, 0)):
            equal(listeners(os.getpid()), [where], "sockets")
    if HAS_V6:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            equal(listeners(os.getpid()), ["::1"], "sockets")


class Closing(threading.Thread):
    """In the place of QEMU's GDB server: it takes one connection and ends it, as the board would wait 5 seconds for an answer."""

    def __init__(self):
        super().__init__(daemon=True)
        self.server = socket.create_server(("127.0.0.1", 0))
        self.place = f"127.0.0.1:{self.server.getsockname()[1]}"
        self.start()

    def run(self):
        self.server.accept()[0].close()


SERVERS = {"remote_bitbang": ["--bitbang", "0"], "GDB": ["--gdb-port", "0", "--target"]}


@case("ntrace board: each server")
def board():
    places = [([], "127.0.0.1", False), (["--bind", "127.0.0.2"], "127.0.0.2", False), (["--bind", "0.0.0.0"], "0.0.0.0", True)]
    if HAS_V6:
        places += [(["--bind", "::1"], "::1", False), (["--bind", "[::1]"], "::1", False), (["--bind", "::"], "::", True)]
    for number, (options, where, warns) in enumerate(places):
        for chosen in (["remote_bitbang"], ["GDB"], ["remote_bitbang", "GDB"])[0 if number < 3 else 2:]:
            arguments = [option for name in chosen for option in SERVERS[name]] + ([Closing().place] if "GDB" in chosen else [])
            shown = f"[{where}]" if ":" in where else where
            with Process(NTRACE, "board", topology(), *arguments, *options) as process:
                lines, found = served(process, rf"{chosen[-1]} listens on {re.escape(shown)}:\d+$")
                with socket.create_connection((where, int(lines[-1].split(":")[-1])), timeout=60):
                    pass
            equal(found, [where] * len(chosen), f"sockets of {chosen} with {options}")
            warnings = [line for line in lines if f"listens on {shown}: everyone who reaches it controls the board" in line]
            equal(len(warnings), len(chosen) if warns else 0, f"warnings of {chosen} with {options}: {lines}")
    matches(r"--bind no\.such\.invalid, port 0: ", Run("board", topology(), "--bitbang", "0", "--bind", "no.such.invalid", status=2).err, "a name")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        matches(f"port {port}: Address already in use", Run("board", topology(), "--bitbang", port, status=2).err, "a port")
        code = write("start.elf", tiny.elf())
        trace = write("start.nex", bytes_of(tiny.HTM))
        for where, why in (port, f"--listen {port}: Address already in use"), ("here", "--listen here: expected HOST:PORT, PORT or a path"):
            matches(why, Run("gdb", trace, "-e", code, "--listen", where, status=2).err, "a place for GDB")


@case("ntrace gdb: names, ports and IPv6")
def gdb():
    trace, code = write("start.nex", bytes_of(tiny.HTM)), write("start.elf", tiny.elf())
    for where, place, warns in (("0", "127.0.0.1", False), ("127.0.0.1:0", "127.0.0.1", False), ("0.0.0.0:0", "0.0.0.0", True), ("[::1]:0", "::1", False),
                                ("[::]:0", "::", True)):
        if where[0] == "[" and not HAS_V6:
            continue
        with Process(NTRACE, "gdb", trace, "-e", code, "--listen", where) as process:
            lines, places = served(process, "in GDB: target remote")
        equal(places, [place], f"sockets with {where}")
        equal("warning: everyone who reaches" in "".join(lines), warns, f"{where}: {lines}")
    path = os.path.join(os.path.dirname(trace), "unix")
    with Process(NTRACE, "gdb", trace, "-e", code, "--listen", path) as process:
        until(lambda: os.path.exists(path), "the socket")
        equal(listeners(process.process.pid), [], "a Unix socket")


DEAF = """#!/bin/sh
trap '' TERM
echo "Listening on port 3333 for gdb connections" >&2
while :; do sleep 0.1; done
"""


@case("the tests of this folder leave no server behind: OpenOCD that does not end is killed, and the board ends")
def left():
    os.chmod(write("openocd", DEAF.encode()), 0o755)
    patience, path = boards.PATIENCE, os.environ["PATH"]
    boards.PATIENCE, os.environ["PATH"] = 1, f"{scratch()}:{path}"
    try:
        board = boards.Board()
        with board:
            pass
        check(False, "nothing is said of a server that does not end")
    except subprocess.TimeoutExpired as late:
        check("openocd" in str(late), str(late))
    finally:
        boards.PATIENCE, os.environ["PATH"] = patience, path
    check(board.board.process.poll() is not None, "the board still runs")


main()

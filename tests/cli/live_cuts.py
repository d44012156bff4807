#!/usr/bin/env python3
"""Live streams that are cut anywhere: connections that end inside of messages, single bytes, other bytes in between. What is shown has happened.

live_cuts.py NTRACE [STREAMS]: number of random streams (default 6), each with four connections.

The truth is the program: from each instruction, only some others follow it. Where a connection has ended, any may follow.
"""
import os
import random
import re
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.append(os.path.join(sys.path[0], ".."))
from boards import program
from harness import NTRACE, Run, case, check, main, scratch, until, write

STREAMS = int((sys.argv[2:3] or ["6"])[0])
CONNECTIONS = 4


def stream():
    elf, _pc, pcs = program()
    pcs = pcs[:1] + pcs[1:] * 20
    pc = write("long.pc", "".join(f"{pc:#x}\n" for pc in pcs).encode())
    path = os.path.join(scratch(), "part.nex")
    Run("encode", "--elf", elf, "--pc", pc, "--mode", "btm", "--sync-mode", "messages", "--sync-max", "3", "-o", path, status=None)
    with open(path, "rb") as file:
        data = file.read()
    return elf, data, set(zip(pcs, pcs[1:]))


def ends(data):
    """Where messages end."""
    return [at + 1 for at, byte in enumerate(data) if byte & 3 == 3]


def serve(server, data, random_source, damaged, whole):
    """`whole`: connections begin and end between messages. Returns the number of bytes that were sent."""
    sent, places = 0, ends(data)
    for _ in range(CONNECTIONS):
        one = server.accept()[0]
        with one:
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            begin, end = sorted(random_source.sample(places, 2) if whole else random_source.sample(range(len(data)), 2))
            part = bytearray(data[begin:end])
            if damaged:
                for _ in range(3):
                    part[random_source.randrange(len(part))] ^= 1 << random_source.randrange(8)
            while part:
                size = random_source.choice([1, 2, 7, 100, 4096])
                one.sendall(part[:size])
                sent += len(part[:size])
                del part[:size]
            if random_source.randrange(2):
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # the connection is reset
    return sent


def ended(path):
    """How many ends of a connection the command has reported."""
    with open(path, encoding="utf-8") as file:
        return file.read().count("connecting again")


def follow(number, elf, data, pairs, damaged, whole):
    """What is wrong, or nothing."""
    random_source = random.Random(number)
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)
        place = f"tcp:127.0.0.1:{server.getsockname()[1]}"
        out, err = (os.path.join(scratch(), f"live-{number}.{name}") for name in ("out", "err"))
        with open(out, "w", encoding="utf-8") as texts, open(err, "w", encoding="utf-8") as errors, \
                subprocess.Popen([NTRACE, "decode", "-f", place, "-e", elf, "--no-timestamps", "--show", "pc"], stdout=texts, stderr=errors) as live:
            try:
                serve(server, data, random_source, damaged, whole)
                until(lambda: ended(err) == CONNECTIONS, lambda: f"{CONNECTIONS} ends of connections, not {ended(err)},")
            except OSError as why:
                live.kill()
                return f"stream {number}: {why}"
            live.send_signal(signal.SIGINT)
            live.wait(60)
    with open(out, encoding="utf-8") as texts, open(err, encoding="utf-8") as file:
        text, errors = texts.read(), file.read()
    pcs = [int(line, 16) for line in text.split() if line.startswith("0x")]
    odd = [f"{one:#x} -> {other:#x}" for one, other in zip(pcs, pcs[1:]) if (one, other) not in pairs]
    again, gaps = len(re.findall("connecting again", errors)), len(re.findall("execution unknown", errors))
    bad = "Sanitizer" in errors or live.returncode not in (0, 1) or again < CONNECTIONS - 1 or gaps < again - 1
    if not damaged:
        bad = bad or len(pcs) < 100 or len(odd) > CONNECTIONS
    return f"stream {number}: status {live.returncode}, {len(pcs)} instructions, {again} ends, {gaps} gaps, {odd[:5]} of {len(odd)}: {errors[-800:]}" \
        if bad else None


for is_damaged, is_whole, what in ((False, False, "connections that end anywhere"), (True, False, "connections that end anywhere, and damaged bytes"),
                                   (False, True, "connections that end between messages")):
    @case(f"{what}: each end is a gap; only what follows each other in the program is shown")
    def _(damaged=is_damaged, whole=is_whole):
        elf, data, pairs = stream()
        with ThreadPoolExecutor(4) as pool:
            wrong = [one for one in pool.map(lambda number: follow(number, elf, data, pairs, damaged, whole), range(STREAMS)) if one]
        check(not wrong, "\n# ".join(wrong))


main()

#!/usr/bin/env python3
"""Faults of trace hardware and of connections: each has its sentence and exit status, and nothing stays enabled."""
import os
import re
import shutil
import socket
import subprocess
import threading

from boards import program
from harness import NTRACE, Run, case, check, equal, main, matches, scratch, write

TE0, TE1, FUNNEL, SINK = 0x10000000, 0x10001000, 0x10010000, 0x10020000
TWO = """{"components": [
  {"name": "te0", "type": "encoder", "base": "0x10000000", "hart": 0, "to": "funnel:0"},
  {"name": "te1", "type": "encoder", "base": "0x10001000", "hart": 1, "to": "funnel:1"},
  {"name": "funnel", "type": "funnel", "base": "0x10010000", "to": "ram"},
  {"name": "ram", "type": "ram", "base": "0x10020000", "sram": 16384}]}"""
CLIENT = 'exec 3<>/dev/tcp/127.0.0.1/%d && { cat <&3 & cat >&3; kill $!; }'


class Broken:
    """`ntrace board --stdio` behind a TCP port. Rules change what it answers; at one request, the connection ends or stalls."""

    def __init__(self, *arguments, text=TWO, rules=()):
        self.board = subprocess.Popen([NTRACE, "board", write("broken.json", text.encode()), "--stdio", *arguments],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.rules, self.count, self.fail_at, self.stall, self.traces = rules, 0, 0, False, False
        self.server = socket.create_server(("127.0.0.1", 0))
        self.command = f"bash -c '{CLIENT % self.server.getsockname()[1]}'"
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                one = self.server.accept()[0]
            except OSError:
                return
            try:
                with one, one.makefile("r") as lines:
                    self.serve_client(one, lines)
            except OSError:
                pass

    def serve_client(self, one, lines):
        for line in lines:
            self.count += 1
            if self.count == self.fail_at and not self.stall:
                one.shutdown(socket.SHUT_RDWR)
                return
            if self.count != self.fail_at:
                one.sendall(self.answer(line.strip()).encode() + b"\n")

    def ask(self, line):
        self.board.stdin.write(line + "\n")
        return self.board.stdout.readline().strip()

    def answer(self, line):
        words = line.split()
        address = int(words[1], 16)
        for rule in self.rules:
            if words[0] == "w" and address == TE0 and int(words[2], 16) & 4:
                self.traces = True
            if not rule["from"] <= address <= rule.get("to", rule["from"]) or (rule.get("later") and not self.traces):
                continue
            if "error" in rule:
                return "error " + rule["error"]
            if words[0] == "w" and rule.get("deaf"):
                if address & 0xfff:
                    return "ok"
                line = f"w {words[1]} {int(words[2], 16) & 1:#x}"
            if words[0] == "r":
                value = int(self.ask(line), 16)
                return f"{value & rule.get('and', 0xffffffff) | rule.get('or', 0):#x}"
        return self.ask(line)

    def enabled(self):
        return [base for base in (TE0, TE1, FUNNEL, SINK) if int(self.ask(f"r {base:#x}"), 16) & 2]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.close()
        self.board.stdin.close()
        self.board.wait(20)
        self.board.stdout.close()


def page(base, **more):
    return dict({"from": base, "to": base + 0xfff}, **more)


def control(base, **more):
    return dict({"from": base}, **more)


def impl(base, **more):
    return dict({"from": base + 4}, **more)


# Name, rules, further options, exit status, sentences.
FAULTS = [
    ("access error", [page(SINK, error="sysbus=failed")], [], 2,
     [r"ram at 0x10020000: (read|write) of trRamControl failed \(sysbus=failed\): is this its base\?"]),
    ("open bus", [page(SINK, **{"or": 0xffffffff})], [], 2,
     ["ram at 0x10020000: reads 0xffffffff everywhere in its page: no component, or its power domain is off"]),
    ("powered down, a pattern", [page(TE0, **{"and": 0, "or": 0xdeadbeef})], [], 2, ["te0 at 0x10000000: reads 0xdeadbeef everywhere"]),
    ("clock gated", [control(TE1, **{"and": 0xfffffffe})], ["--timeout", "300"], 2,
     [r"te1 at 0x10001000: trTeActive does not become 1 \(0x[0-9a-f]{8} after 300 ms\): clock gated or powered down\?"]),
    ("bases swapped", [impl(TE0, **{"and": 0xfffff0ff, "or": 0x800})], [], 2,
     [r"te0 at 0x10000000: type 8 \(funnel\), expected 1 \(encoder\): check the topology; this base would fit funnel"]),
    ("before ratification", [impl(TE0, **{"and": 0xfffffff0})], [], 2, [r"te0 at 0x10000000: version 0\.0 .*--dialect"]),
    ("version 1.15", [impl(TE0, **{"or": 0xf0})], [], 0, ["te0 at 0x10000000: version 1.15 is experimental"]),
    ("read-only path", [page(TE0, deaf=True, **{"and": 0xffffff8f})], [], 2,
     ["te0 at 0x10000000: trTeInstMode stays 0 after 3 and 6: writes have no effect"]),
    ("contradictory buffer", [control(SINK, **{"and": 0xfffffffd})], ["--timeout", "300"], 2,
     ["ram at 0x10020000: trRamEnable stays 0: Start 0x0 Limit 0x3ffc"]),
    ("not empty", [dict(control(FUNNEL, **{"and": 0xfffffff7}), later=True)], ["--timeout", "300"], 1,
     ["funnel at 0x10010000: trFunnelEmpty stays 0 for 300 ms while ram has Enable=1: data cannot leave"]),
    ("nothing stored", [], ["--set", "funnel.trFunnelDisInput=3"], 2,
     ["nothing was stored", "funnel at 0x10010000: trFunnelDisInput 0x3, trFunnelEmpty 1: inputs are disabled",
      "te0 at 0x10000000: trTeInstMode 6, trTeInstFilters 0x0, trTeEmpty 1"]),
    ("no message", [dict(control(SINK + 0x40), **{"or": 0xffffffff})], [], 1, ["the buffer holds no message"]),
    ("a trigger", [dict(control(TE0, **{"and": 0xfffffffb}), later=True), dict(control(TE1, **{"and": 0xfffffffb}), later=True)], [], 0,
     ["te0 at 0x10000000: trTeInstTracing became 0 by itself .*a trigger ended the trace"]),
    ("overflow", [dict(control(TE0, **{"or": 1 << 12}))], [], 1, ["te0 at 0x10000000: lost trace or stalled its hart.*try --mode htm"]),
    ("same sources", [], ["--set", "te0.trTeSrcID=1"], 2,
     ["te0 at 0x10000000: its messages cannot be told from those of te1: trTeSrcBits 1 and 1, trTeSrcID 1 and 1"]),
]


def capture(board, elf, *more, status=None):
    bundle = os.path.join(scratch(), "fault.ntrace")
    shutil.rmtree(bundle, ignore_errors=True)
    return Run("capture", "-o", bundle, "-e", elf, "-t", write("two.json", TWO.encode()), "--exec", board.command, "--for", "100ms",
               *more, status=status)


@case("every fault of the hardware has its sentence and exit status; nothing stays enabled")
def _():
    elf, pc, _pcs = program()
    wrong = []
    for name, rules, more, status, sentences in FAULTS:
        with Broken("-e", elf, "--pc", pc, "--rate", "50", rules=rules) as board:
            run = capture(board, elf, *more)
            kept = os.path.exists(os.path.join(scratch(), "fault.ntrace"))
            good = run.status == status and all(re.search(one, run.err) for one in sentences) and kept == (status < 2)
            if not good or board.enabled():
                wrong.append(f"{name}: status {run.status}, enabled {board.enabled()}, bundle {kept}, {board.count} accesses: {run.err}")
    check(not wrong, "\n# ".join(wrong))


def fails_at(board, elf, number, *more):
    """A capture whose connection fails at this request. Returns the number of requests."""
    board.count, board.fail_at = 0, number
    run = capture(board, elf, "--for", "5ms", "--timeout", "200", *more)
    count = board.count
    check(run.status in (0, 1, 2), f"request {number}: status {run.status}: {run.err}")
    if 0 < number <= count and run.status == 2:
        matches("closed the connection|does not answer within 200 ms|reset by peer|Broken pipe", run.err, f"request {number}")
    board.fail_at = 0
    equal(board.enabled(), [], f"request {number} of {count} fails: components that are enabled")
    return count


@case("a connection that ends, or stalls, at any request: the capture ends with its reason, and nothing stays enabled")
def _():
    elf, pc, _pcs = program()
    with Broken("-e", elf, "--pc", pc, "--rate", "50") as board:
        count = fails_at(board, elf, 0)
        check(count > 150, f"{count} requests")
        for number in range(1, min(count, 260), 2):
            fails_at(board, elf, number)
        board.stall = True
        for number in range(2, min(count, 260), 11):
            fails_at(board, elf, number)


main()

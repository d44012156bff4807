"""The registers and the memory of `ntrace board --stdio`, changed by rules as broken hardware changes them."""
import subprocess
import threading

from harness import DEADLINE, NTRACE


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
        if address & 0xfffff000 in (0x10000000, 0xd9014000) and not address & 0xfff and value & 4:
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
        self.board.wait(DEADLINE)
        self.board.stdout.close()

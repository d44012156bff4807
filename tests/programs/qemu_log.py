"""Retired instructions from QEMU's own execution log, a source that is independent of this project.

The log of `-singlestep -d exec,nochain,in_asm,strace` has one Trace line before each instruction. Three kinds of
lines do not stand for a retired instruction and are left out: ECALL and EBREAK, which never retire; an
instruction that faulted (it is logged before it executes: the last one before a SIGSEGV, SIGBUS or SIGILL that an
instruction raised, when it is one that can); and one that QEMU says it stopped before.
"""
import collections
import os
import re
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from harness import Memo

TRACE = re.compile(r"Trace (\d+): 0x[0-9a-f]+ \[[0-9a-f]+/([0-9a-f]+)/")
STOPPED = re.compile(r"^Stopped execution of TB chain before 0x[0-9a-f]+ \[([0-9a-f]+)\]")
ASM = re.compile(r"^0x([0-9a-f]+):\s+([0-9a-f]+)\s+(\S+)")
SIGNAL = re.compile(r"^--- (SIGSEGV|SIGBUS|SIGILL|SIGFPE) \{.*si_code=(-?\w+)")
NEVER_RETIRE = {"ecall", "ebreak", "c.ebreak"}
CANNOT_FAULT = re.compile(r"^(c\.)?(j|jr|jal|jalr|ret|b\w+|add\w*|sub\w*|li|lui|auipc|mv|and\w*|or\w*|xor\w*|s[lr][la]\w*|mul\w*|div\w*|rem\w*|nop|call|tail)$")


class Log:
    """`harts`: the program counters that retired, by CPU index; `lines`: all that were logged."""

    def __init__(self, path):
        self.harts, self.lines = collections.defaultdict(list), collections.defaultdict(list)
        self.mnemonic, self.last = {}, None
        self.never = set()  # addresses of instructions that never retire
        self.stopped = []  # [address, CPUs that may have stopped there]
        executed = Memo(lambda line: [(int(found[1]), int(found[2], 16)) for found in TRACE.finditer(line)])
        with open(path, encoding="latin-1") as log:
            for line in log:
                # Several threads write: a line may begin behind the start of another's system call.
                for cpu, pc in executed[line]:
                    if self.stopped or pc in self.never:
                        self.execute(cpu, pc)
                    else:
                        self.lines[cpu].append(pc)
                        self.harts[cpu].append(pc)
                        self.last = cpu, pc
                if line[:5] != "Trace":
                    self.take(line)
        self.harts, self.lines = dict(self.harts), dict(self.lines)

    def take(self, line):
        if line.startswith("0x"):
            found = ASM.match(line)
            if found:
                pc = int(found[1], 16)
                self.mnemonic[pc] = found[3]
                (self.never.add if found[3] in NEVER_RETIRE else self.never.discard)(pc)
        elif line.startswith("Stopped"):
            address = int(STOPPED.match(line)[1], 16)
            self.resolve([address, {cpu for cpu, pcs in self.harts.items() if pcs and pcs[-1] == address}])
        elif line.startswith("---"):
            found = SIGNAL.match(line)
            if found and raised(found[2]) and self.last:
                cpu, pc = self.last
                if pc not in self.never and not CANNOT_FAULT.match(self.mnemonic.get(pc, "")):
                    self.harts[cpu].pop()

    def execute(self, cpu, pc):
        self.last = (cpu, pc)
        if pc in self.never:
            return
        self.lines[cpu].append(pc)
        pcs = self.harts[cpu]
        for entry in [entry for entry in self.stopped if cpu in entry[1]] if self.stopped else ():
            self.stopped.remove(entry)
            if pcs and pcs[-1] == pc:  # logged again: this CPU had been stopped
                return
            self.resolve([entry[0], entry[1] - {cpu}])
        pcs.append(pc)

    def resolve(self, entry):
        """The line does not name the thread that was stopped. When only one is possible, its last line was not executed."""
        address, cpus = entry
        if len(cpus) > 1:
            self.stopped.append(entry)
        for cpu in cpus if len(cpus) == 1 else ():
            if self.harts[cpu] and self.harts[cpu][-1] == address:
                self.harts[cpu].pop()


def raised(code):
    """Whether an instruction raised the signal (it was not sent)."""
    return code.lstrip("-").isdigit() and int(code) > 0

"""What retired, by QEMU's own execution log: nobody here wrote that.

The log of `-singlestep -d exec,nochain,in_asm,strace` has one Trace line before each instruction. Three kinds of
lines do not stand for a retired instruction and are left out: ECALL and EBREAK, which never retire; an
instruction that faulted (it is logged before it executes: the last one before a SIGSEGV, SIGBUS or SIGILL that an
instruction raised, when it is one that can); and one that QEMU says it stopped before.
"""
import re

TRACE = re.compile(r"^Trace (\d+): 0x[0-9a-f]+ \[[0-9a-f]+/([0-9a-f]+)/")
STOPPED = re.compile(r"^Stopped execution of TB chain before 0x[0-9a-f]+ \[([0-9a-f]+)\]")
ASM = re.compile(r"^0x([0-9a-f]+):\s+([0-9a-f]+)\s+(\S+)")
SIGNAL = re.compile(r"^--- (SIGSEGV|SIGBUS|SIGILL|SIGFPE) \{.*si_code=(-?\w+)")
NEVER_RETIRE = {"ecall", "ebreak", "c.ebreak"}
CANNOT_FAULT = re.compile(r"^(c\.)?(j|jr|jal|jalr|ret|b\w+|add\w*|sub\w*|li|lui|auipc|mv|and\w*|or\w*|xor\w*|s[lr][la]\w*|mul\w*|div\w*|rem\w*|nop|call|tail)$")


def programs_counters(path):
    """The program counters that retired, by CPU index."""
    mnemonic, harts, last = {}, {}, None
    with open(path, encoding="latin-1") as log:
        for line in log:
            if line.startswith("Trace"):
                found = TRACE.match(line)
                cpu, pc = int(found[1]), int(found[2], 16)
                last = (cpu, pc)
                if mnemonic.get(pc) not in NEVER_RETIRE:
                    harts.setdefault(cpu, []).append(pc)
            elif line.startswith("0x"):
                found = ASM.match(line)
                if found:
                    mnemonic[int(found[1], 16)] = found[3]
            elif line.startswith("Stopped"):
                found = STOPPED.match(line)
                # another thread's line may stand in between: take the last one of this address
                for pcs in harts.values():
                    if pcs and pcs[-1] == int(found[1], 16):
                        pcs.pop()
                        break
            elif line.startswith("---"):
                found = SIGNAL.match(line)
                if found and raised(found[2]) and last:
                    cpu, pc = last
                    if mnemonic.get(pc) not in NEVER_RETIRE and not CANNOT_FAULT.match(mnemonic.get(pc, "")):
                        harts[cpu].pop()
    return harts


def raised(code):
    """Whether an instruction raised the signal (and nobody sent it)."""
    return code.lstrip("-").isdigit() and int(code) > 0

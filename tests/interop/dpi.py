#!/usr/bin/env python3
"""The golden model in a simulator: the example encoder in SystemVerilog agrees with the model, and each of the defects
seeded into it is found.

usage: dpi.py NTRACE LIBRARY
"""
import functools
import os
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from dpi_program import Program
from harness import NTRACE, ROOT, case, check, main, scratch

LIBRARY = os.path.abspath(sys.argv[2])
LENGTH = 10000
ENVIRONMENTS = [("btm", 0, 1), ("htm", 0, 1), ("htm", 7, 9), ("btm", 7, 9), ("htm", 1, 1)]  # mode, window, slow

# Each seeded defect, and the comparisons that must find it. A legal stream may describe another execution.
ALL, LEGAL, EXACT = ("exact", "semantic", "rules"), ("exact", "semantic"), ("exact",)
DEFECTS = {
    1: ("a field of value 0 after full bytes is left out", ALL),
    2: ("a field that just fills its last byte does not end", ALL),
    3: ("ResourceFull does not reset I-CNT", ALL),
    4: ("the branch that finds HIST full is lost", ALL),
    5: ("a sync does not set the reference of U-ADDR", ALL),
    6: ("U-ADDR keeps bit 0", ALL),
    7: ("B-TYPE: exception and interrupt exchanged", LEGAL),
    8: ("the instruction that trapped counts as retired", ALL),
    9: ("correlation without HIST in HTM", ALL),
    10: ("the pending jump is lost when tracing stops", LEGAL),
    11: ("a sync does not clear HIST", ALL),
    12: ("I-CNT counts instructions of 16 bits twice", ALL),
    13: ("debug mode left with SYNC=5", EXACT),
    14: ("a periodic sync has an old address", ALL),
    15: ("a full FIFO does not stall", ALL),
}


def run(*command, **options):
    return subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          **options)


def halts(text):
    """Records with the hart halted sometimes, and instead of the last record; some interrupts have no address."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    names = lines[0].split(",")
    out = [lines[0]]

    def halted(row):
        cells = dict.fromkeys(names, "0") | {"cycle": "1", "iaddr": row["iaddr"], "halted": "1", "priv": row["priv"]}
        return ",".join(cells[name] for name in names)

    def blind(row):
        """An interrupt without address."""
        return ",".join("" if name == "iaddr" else row[name] for name in names)

    rows = [dict(zip(names, line.split(","))) for line in lines[1:]]
    for number, (line, row) in enumerate(zip(lines[1:], rows)):
        if row["itype"] == "2" and row["iretire"] == "0" and number % 2:
            line = blind(row)
        if number % 151 == 150 and row["iaddr"]:
            out += [halted(row)] * 2
        out.append(line)
    out[-1] = halted(rows[-1])
    return "\n".join(out) + "\n"


class Bench:
    """The testbench, built once."""

    def __init__(self):
        self.folder = folder = scratch()
        self.simulation = os.path.join(folder, "sim", "testbench")
        self.stimuli = [self.stimulus(seed, calm) for seed, calm in ((1, False), (2, True))]

        built = run(os.path.join(ROOT, "dpi", "example", "build"), os.path.join(folder, "sim"), LIBRARY, "-DSEEDED_DEFECTS")
        check(built.returncode == 0, built.stdout[-3000:])

    def stimulus(self, seed, calm):
        program = Program(seed, calm)
        elf, pcs, blocks = (os.path.join(self.folder, f"{seed}.{kind}") for kind in ("elf", "pc", "csv"))
        with open(elf, "wb") as file:
            file.write(program.elf())
        with open(pcs, "w", encoding="ascii") as file:
            file.writelines(f"{pc:#x}\n" for pc in program.walk(seed, LENGTH))
        done = run(NTRACE, "encode", "-e", elf, "--pc", pcs, "--show", "ingress")
        assert done.returncode == 0, done.stdout
        records = [line for line in done.stdout.splitlines() if not line.startswith("ntrace encode: ")]  # it names the interrupts
        with open(blocks, "w", encoding="ascii") as file:
            file.write(halts("\n".join(records)))
        return elf, blocks

    def simulate(self, stimulus, environment, *arguments):
        """The last line, and everything before it."""
        elf, blocks = stimulus
        mode, window, slow = environment
        done = run(self.simulation, f"+program={elf}", f"+blocks={blocks}", f"+mode={mode}", f"+window={window}",
                   f"+slow={slow}", *arguments, timeout=60)
        lines = [line for line in done.stdout.splitlines() if line.startswith(("PASS", "FAIL"))]
        return lines[-1] if lines else "none", done.stdout

    def hunt(self, number):
        """Comparisons that find this defect in any run."""
        found = set()
        for environment in ENVIRONMENTS:
            for stimulus in self.stimuli:
                last, _ = self.simulate(stimulus, environment, f"+seeded={number}")
                found |= {part.split("=")[0] for part in last.split()[1:] if "=" in part and not part.endswith("=0")}
        return found


bench = functools.cache(Bench)
case("the testbench builds without warnings")(bench)


def agrees(environment, stimulus):
    last, output = bench().simulate(bench().stimuli[stimulus], environment)
    check(last.startswith("PASS"), output)


for each_environment in ENVIRONMENTS:
    for each_stimulus in 0, 1:
        case(f"the example agrees with the model: {each_environment}, program {each_stimulus + 1}", each_environment, each_stimulus)(agrees)


def found(number, judgements):
    comparisons = bench().hunt(number)
    check(comparisons >= set(judgements), f"by {sorted(comparisons)}")


for each_number, (what, each_judgements) in DEFECTS.items():
    case(f"defect found: {what} ({', '.join(each_judgements)})", each_number, each_judgements)(found)


@case("another way to say the same: equal by execution")
def same_execution():
    last, output = bench().simulate(bench().stimuli[0], ENVIRONMENTS[1], "+empty_hist", "+exact=0")
    check(last.startswith("PASS"), output)


@case("another way to say the same: not equal by bytes")
def other_bytes():
    last, output = bench().simulate(bench().stimuli[0], ENVIRONMENTS[1], "+empty_hist")
    check("semantic=0" in last and "FAIL" in last, output)


main("verilator")

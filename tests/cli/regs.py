#!/usr/bin/env python3
"""regs: the register map, and values decoded by it."""
import json
import os
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import Run, case, check, equal, main


@case("the value of the specification's example")
def value():
    lines = Run("regs", "trTeControl=0x61").lines()
    equal(lines[0], "trTeControl = 0x00000061", "head")
    fields = {line.split()[1]: line.split()[2] for line in lines[1:]}
    equal(fields["trTeActive"], "0x1", "active")
    equal(fields["trTeInstMode"], "0x6", "mode")
    check("history trace (HTM)" in "\n".join(lines), "the meaning of the mode")
    check("history trace (HTM)" in Run("regs", "trTeInstMode=6").out, "a field's value")


@case("all registers, one component, one register, one field")
def listing():
    out = Run("regs").out
    for name in ("trTeControl", "trTsCounterHigh", "trRamData", "trFunnelDisInput", "trPibControl", "trAtbBridgeImpl"):
        check(name in out, name)
    for name in ("encoder", "trTe"):
        check("trTeInstSyncMax" in Run("regs", name).out, name)
    equal(Run("regs", "trTeFilter_%_Control").out, Run("regs", "trTeFilter_15_Control").out, "one of many")
    check("31:28" in Run("regs", "trTeSrcBits").out, "the bits of a field")


@case("JSON lines hold every field, and fields of a register do not overlap")
def json_lines():
    rows = [json.loads(line) for line in Run("regs", "--format", "jsonl").lines()]
    fields = [row for row in rows if row["type"] == "field"]
    registers = {row["name"] for row in rows if row["type"] == "register"}
    check(len(fields) > 100 and len(registers) > 40, "many")
    for name in registers:
        used = 0
        for row in fields:
            if row["register"] != name:
                continue
            mask = ((1 << (row["high"] - row["low"] + 1)) - 1) << row["low"]
            check(not used & mask and row["high"] < 32, f"{row['name']} overlaps")
            used |= mask
        check(used, f"{name} has no field")


@case("errors are reported")
def errors():
    run = Run("regs", "trTeControl=0x80000001", status=1)
    check("reserved bits are set: 0x80000000" in run.err, run.err)
    run = Run("regs", "trTeContrl", status=2)
    check("'trTeControl'?" in run.err, run.err)
    run = Run("regs", "trTeInstMode=9", status=2)
    check("at most 0x7" in run.err, run.err)
    run = Run("regs", "trTeControl=x", status=2)
    check("found 'x'" in run.err, run.err)
    Run("regs", "nothing-like-it", status=2)


main()

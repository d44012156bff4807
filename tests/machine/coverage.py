#!/usr/bin/env python3
"""Coverage of firmware that runs on a whole machine: decisions, object code, folders, and code that patches itself. TAP.

usage: coverage.py NTRACE
"""
import collections
import json
import os
import re
import shutil
import subprocess
import sys

sys.path += [os.path.join(sys.path[0], "..", name) for name in ("", "analysis")]
import cases
import qemu10

HERE = os.path.dirname(os.path.abspath(__file__))
GCC = ("riscv64-linux-gnu-gcc", "-g", "-mcmodel=medany", "-nostdlib", "-ffreestanding", "-static", "-Wl,--build-id=none", "-march=rv64imac_zicsr_zifencei",
       "-mabi=lp64")


class Bench:
    def __init__(self, ntrace, folder):
        self.ntrace, self.folder = ntrace, folder

    def run(self, *command, status=0, timeout=120):
        done = subprocess.run(command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=timeout, check=False)
        assert done.returncode == status, (command, done.returncode, done.stderr[-300:])
        return done.stdout

    def firmware(self, level="-O0"):
        qemu = qemu10.find()
        if not qemu:
            cases.skip(qemu10.REASON)
        for name in ("firmware.c", "firmware_start.S", "start.h"):
            shutil.copy(os.path.join(HERE, name), self.folder)
        self.run(*GCC, level, "-T", os.path.join(HERE, "bare.ld"), "firmware_start.S", "firmware.c", "-o", "firmware")
        self.run(self.ntrace, "run", "--machine", "virt", "--qemu", f"{qemu}/qemu-system-riscv64", "-o", "firmware.ntrace", "firmware")
        return "firmware.ntrace"

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def json(self, *arguments):
        return json.loads(self.run(self.ntrace, "coverage", *arguments, "firmware.ntrace"))


def results(text):
    """The answer, without the parts of the trace and the images that it rests on."""
    document = json.loads(text)
    del document["quality"]
    return document


def vectors():
    """What firmware.c evaluates, by the text of the decision."""
    found = collections.defaultdict(collections.Counter)
    for i in range(12):
        speed, gear, brake = i * 3 > 10, i % 3 != 0, i == 1
        first = "T" + "FT"[gear] if speed else "F-"
        result = first == "TT"
        found["(speed > 10 && gear != 0) || brake"][(first + ("-" if result else "FT"[brake]), "FT"[result or brake])] += 1
        value = i
        while True:
            vector = "F--" if value <= 2 else "TF-" if value >= 9 else "TTT"
            found["value > low && value < high && ticks < 1000"][(vector, vector[-1].replace("-", "F"))] += 1
            if vector != "TTT":
                break
            value += 1
        found["value >= high && low < high"][("TT" if value >= 9 else "F-", "FT"[value >= 9])] += 1
    return found


def decisions(bench):
    """The vectors of firmware with traps in between are those of the source."""
    bench.firmware()
    document = bench.json("--level", "mcdc", "--format", "json")
    expected, seen = vectors(), 0
    assert document["gaps"] == 0 and not document["unparsed"]
    for decision in document["decisions"]:
        found = {("".join(vector["values"]), vector["result"]): vector["count"] for vector in decision["vectors"]}
        assert found == expected[decision["text"]] and "reason" not in decision, (decision["text"], found, expected[decision["text"]])
        seen += 1
    assert seen == 3, document
    for part in "123":
        bench.run(bench.ntrace, "coverage", "--level", "mcdc", "--partial", f"{part}.part", "--shard", f"{part}/3", "firmware.ntrace")
    joined = bench.run(bench.ntrace, "combine", "--redo", "3.part", "1.part", "2.part", "coverage", "--level", "mcdc", "--format", "json")
    del document["quality"]
    assert results(joined) == document, "three parts"


def only(bench):
    """Lines are restricted to a file; object code names what was never executed."""
    bench.firmware()
    names = [{os.path.basename(file["file"]) for file in bench.json("--to", "json", *only)["files"]} for only in ((), ("--only", "firmware.c"))]
    assert names == [{"firmware.c", "firmware_start.S"}, {"firmware.c"}], names
    functions = {f["name"]: f for f in bench.json("--level", "object", "--format", "json")["functions"]}
    assert functions["never"]["executed"] == 0 < functions["valid"]["executed"] == functions["valid"]["instructions"]
    assembler, some = {"trap", "_start", "call_patched", "enter_patched"}, bench.json("--level", "object", "--format", "json", "--only", "firmware.c")
    assert {f["name"] for f in some["functions"]} == set(functions) - assembler, (sorted(functions), sorted(f["name"] for f in some["functions"]))
    assert all(f == functions[f["name"]] for f in some["functions"])
    bench.run(bench.ntrace, "coverage", "--level", "object", "--only", "other", "firmware.ntrace", status=1)
    assert {f["name"] for f in bench.json("--level", "object", "--format", "json", "--only", "firmware_start.S")["functions"]} == assembler
    shutil.copy(os.path.join(bench.folder, "firmware"), os.path.join(bench.folder, "again"))
    again = bench.json("--level", "object", "--format", "json", "-e", "again")["functions"]
    assert len(again) == len(functions), "an image that the bundle has, too, with another name"
    lines = bench.json("--to", "json")["files"]
    trap, start = functions["trap"], functions["_start"] # assembler: debug information has lines of it and no functions
    assert trap["executed"] == trap["instructions"] > 10, trap
    assert start["executed"] and [part["instructions"][0]["text"][0] for part in start["not_executed"]] == ["j"], start
    traps = [function["count"] for file in lines for function in file["functions"] if function["name"] == "on_trap"]
    assert traps == [12], traps


def code_of_a_trace(bench):
    """Firmware without its ELF file: the trace has the code that was executed, and the file the rest."""
    bench.firmware()
    os.makedirs(os.path.join(bench.folder, "elsewhere"), exist_ok=True)
    bench.run("riscv64-linux-gnu-objcopy", "-O", "binary", "firmware", "elsewhere/image.bin")
    bench.run(bench.ntrace, "run", "--machine", "virt", "--qemu", f"{qemu10.find()}/qemu-system-riscv64", "-o", "raw.ntrace", "elsewhere/image.bin")
    raw, whole = (json.loads(bench.run(bench.ntrace, "coverage", "--level", "object", "--format", "json", *file, "raw.ntrace"))
                  for file in (("--symbols", "firmware=firmware"), ("-e", "firmware")))
    for f in raw["functions"] + whole["functions"]:
        f.pop("image")
    assert raw["functions"] == whole["functions"], [pair for pair in zip(raw["functions"], whole["functions"]) if pair[0] != pair[1]][:1]
    listing = bench.run("riscv64-linux-gnu-objdump", "-d", "--disassemble=apart", "firmware")
    addresses = re.findall(r"(?m)^ +([0-9a-f]+):\t", listing)
    apart = next(f for f in raw["functions"] if f["name"] == "apart")
    shown = [insn["address"] for part in apart["not_executed"] for insn in part["instructions"]]
    assert shown == ["0x" + address for address in addresses] and len(shown) > 5, (shown, addresses)


# Places for sections of firmware.o, behind the code of bare.ld.
FAR = """  . = ALIGN(4096) + 0x120;
  .far : { *(.text.limits) }
  . = ALIGN(4096) + 0x234;
  .farther : { *(.text.main .text.valid) }
"""


def kernel_module(bench):
    """An object file of which each section was loaded at an address of its own, as a kernel does: linked for these by the names of kallsyms,
    it counts as the program that was linked at once. Not with names of another build."""
    bench.firmware()
    with open(os.path.join(HERE, "bare.ld"), encoding="utf-8") as file:
        text = file.read()
    text = text.replace("*(.text*)", "*(.text .text.never .text.on_trap .text.patch .text.apart)")
    bench.write("far.ld", re.sub(r"(?m)^  \.text : .*\n", lambda found: found[0] + FAR, text))
    bench.run(*GCC, "-O0", "-mno-relax", "-ffunction-sections", "-r", "firmware.c", "-o", "firmware.o")
    bench.run(*GCC, "-T", "far.ld", "firmware_start.S", "firmware.o", "-o", "whole")
    bench.run("riscv64-linux-gnu-objcopy", "-O", "binary", "whole", "whole.bin")
    bench.run(bench.ntrace, "run", "--machine", "virt", "--qemu", f"{qemu10.find()}/qemu-system-riscv64", "-o", "module.ntrace", "whole.bin")
    inside = set(re.findall(r" (?:FUNC|OBJECT) .* (\w+)\n", bench.run("riscv64-linux-gnu-readelf", "-sW", "firmware.o")))
    names = re.findall(r"(\w+) (\w) (\w+)\n", bench.run("riscv64-linux-gnu-nm", "whole"))
    bench.write("kallsyms", "".join(f"{address} {kind} {name}" + ("\t[firmware]\n" if name in inside else "\n") for address, kind, name in names))
    link = os.path.join(qemu10.ROOT, "tools", "link_module")
    bench.run(link, "--kallsyms", "kallsyms", "firmware.o", "linked")
    for level in (("--to", "json"), ("--level", "object", "--format", "json"), ("--level", "mcdc", "--format", "json")):
        linked, whole = (bench.run(bench.ntrace, "coverage", *level, "--only", "firmware.c", "--symbols", f"module={file}", "module.ntrace")
                         for file in ("linked", "whole"))
        assert results(linked) == results(whole) and "valid" in whole, (level, linked[:600], whole[:600])
        by_names, in_place, all_of_it = (bench.run(bench.ntrace, "coverage", *level, "--only", "firmware.c", *files, "module.ntrace") for files in (
            ("--symbols", "firmware=firmware.o", "--symbols", "kernel=kallsyms"), ("-e", "firmware.o", "--symbols", "kernel=kallsyms"), ("-e", "whole")))
        assert results(by_names.replace('"firmware"', '"module"')) == results(whole), (level, by_names[:600], whole[:600])
        in_place, all_of_it = (json.dumps(results(text)).split('"versions":')[0]  # of code outside of the module
                               for text in (in_place.replace('"firmware.o"', '"whole"'), all_of_it))
        assert in_place == all_of_it, (level, in_place[:600], all_of_it[:600])
    bench.run(bench.ntrace, "coverage", "-e", "firmware.o", "--symbols", "kernel=kallsyms", "--evidence", "evidence", "module.ntrace")
    with open(os.path.join(bench.folder, "evidence", "evidence.json"), encoding="utf-8") as file:
        assert "firmware.o" in [os.path.basename(entry["name"]) for entry in json.load(file)["files"] if entry["kind"] == "binary"], "the file before it was linked"
    counts = {f["name"]: f["count"] for file in json.loads(bench.run(bench.ntrace, "coverage", "--to", "json", "--symbols", "module=linked", "module.ntrace"))["files"]
              for f in file["functions"]}
    assert counts["valid"] == counts["limits"] == counts["on_trap"] == 12 and counts["main"] == 1, counts
    bench.run(link, "--kallsyms", "kallsyms", "--module", "other", "firmware.o", "none", status=1)
    bench.write("kallsyms", "".join(f"{int(address, 16) + 2 * i:x} {kind} {name}\t[firmware]\n" for i, (address, kind, name) in enumerate(names)))
    bench.run(*GCC, "-O0", "-mno-relax", "-r", "firmware.c", "-o", "other.o")
    bench.run(link, "--kallsyms", "kallsyms", "--module", "firmware", "other.o", "none", status=1)
    shutil.copy(os.path.join(bench.folder, "other.o"), os.path.join(bench.folder, "firmware.ko"))
    for files in (("-e", "firmware.o"), ("-e", "firmware.ko", "--symbols", "kernel=kallsyms"), ("--symbols", "none=firmware.o", "--symbols", "kernel=kallsyms")):
        bench.run(bench.ntrace, "coverage", *files, "module.ntrace", status=2)


def patched(bench):
    """Each version of a patched instruction has its own count; one before which an interrupt comes is not executed twice."""
    bench.firmware()
    versions = bench.json("--level", "object", "--format", "json")["versions"]
    counts = {(version["insn"]["opcode"], version["executed"]) for version in versions}
    assert {("0x505", 1), ("0x509", 2)} <= counts and len({version["insn"]["address"] for version in versions}) == 1, versions
    text = bench.run(bench.ntrace, "coverage", "--level", "object", "firmware.ntrace")
    assert "code that was changed at run time, by version" in text and "0505" in text and "0509" in text, text[-600:]


def either(door, key, guard):
    return "TT-" if door and key else ("TF" if door else "F-") + "FT"[guard]


def both(door, key, guard):
    return "F--" if not door else "TT-" if key else "TF" + "FT"[guard]


def tasks(bench):
    """A scheduler: an evaluation in which tasks are switched is unknown and never wrong; the others are exact. A module counts where it
    was loaded, at another address than it was linked for."""
    qemu = qemu10.find()
    if not qemu:
        cases.skip(qemu10.REASON)
    for name in ("rtos.c", "rtos_start.S", "start.h", "module.c"):
        shutil.copy(os.path.join(HERE, name), bench.folder)
    bench.run(*GCC, "-O0", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-Wl,-Ttext=0,-e,check", "module.c", "-o", "module")
    bench.run("riscv64-linux-gnu-objcopy", "-O", "binary", "-j", ".text", "module", "module.bin")
    bench.run(*GCC, "-O0", "-T", os.path.join(HERE, "bare.ld"), "rtos_start.S", "rtos.c", "-o", "rtos")
    bench.run(bench.ntrace, "run", "--machine", "virt", "--qemu", f"{qemu}/qemu-system-riscv64", "-o", "rtos.ntrace", "rtos")
    names = bench.run("riscv64-linux-gnu-nm", "rtos").split("\n")
    loaded = next(line.split()[0] for line in names if line.endswith(" module_area"))
    document = json.loads(bench.run(bench.ntrace, "coverage", "--level", "mcdc", "--format", "json", "-e", f"module@0x{loaded}", "rtos.ntrace"))
    found = {decision["function"]: decision for decision in document["decisions"]}
    counts = {name: {"".join(vector["values"]): vector["count"] for vector in decision["vectors"]} for name, decision in found.items()}
    assert counts["check"] == {"F-": 8, "TF": 5, "TT": 5} and "reason" not in found["check"], found["check"]
    assert counts["steady"] == {"F--": 6, "TT-": 6, "TFT": 3, "TFF": 3} and "reason" not in found["steady"], found["steady"]
    true = {name: collections.Counter() for name in ("allowed", "refused", "shared", "paused")}
    for value in range(9):
        bits = [value >> bit & 1 for bit in range(3)]
        true["allowed"][either(*bits)] += 1
        true["refused"][both(*bits)] += 1
        true["shared"][either(bits[2], bits[0], bits[1])] += 2
        true["paused"][both(bits[1], bits[2], bits[0])] += 2
    for name, vectors in true.items():
        assert all(count <= vectors[values] for values, count in counts[name].items()), (name, counts[name], vectors)
        assert sum(counts[name].values()) + found[name]["unknown"] >= sum(vectors.values()) or "reason" in found[name], found[name]
    # One task is in each of these, and switches after the first condition: only what that decides is seen, and the rest is counted.
    assert (counts["allowed"], found["allowed"]["unknown"]) == ({}, 11) and "reason" not in found["allowed"], found["allowed"]
    assert (counts["refused"], found["refused"]["unknown"]) == ({"F--": 5}, 6) and "reason" not in found["refused"], found["refused"]
    # Both tasks are in these at the same time.
    for name in ("shared", "paused"):
        assert not counts[name] and "tasks were switched" in found[name]["reason"], found[name]
    restricted = json.loads(bench.run(bench.ntrace, "coverage", "--level", "mcdc", "--format", "json", "--only", "module.c", "-e", f"module@0x{loaded}",
                                      "rtos.ntrace"))
    assert [decision["function"] for decision in restricted["decisions"]] == ["check"], restricted


INIT = """#!/usr/bin/busybox sh
busybox mount -t proc proc /proc
busybox grep processes /proc/stat
busybox poweroff -f
"""


def linux_kernel(bench):
    """A boot of Debian's kernel: lines of one folder. The kernel itself says how many tasks it has made."""
    vmlinux, tools = os.environ.get("NTRACE_TEST_VMLINUX"), os.path.join(qemu10.ROOT, "tools")
    with open(os.path.join(bench.folder, "init"), "w", encoding="utf-8") as file:
        file.write(INIT)
    debug = [] if vmlinux else ["--debug"]
    guest = subprocess.run([f"{tools}/fetch_guest", "--offline", *debug, "--init", "init", "guest"], cwd=bench.folder, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, check=False)
    qemu = qemu10.find()
    if guest.returncode or not qemu:
        cases.skip("guest-debug" if qemu else qemu10.REASON)
    vmlinux = vmlinux or "guest/vmlinux"
    shown = bench.run(bench.ntrace, "run", "--machine", "virt", "--qemu", f"{qemu}/qemu-system-riscv64", "--kernel", "guest/kernel", "--initrd",
                      "guest/initrd.cpio", "--append", "console=ttyS0 panic=-1 quiet", "--memory", "512M", "-o", "kernel.ntrace", "--", "-no-reboot",
                      timeout=1200)
    made = int(re.search(r"processes (\d+)", shown)[1])
    document = json.loads(bench.run(bench.ntrace, "coverage", "--symbols", f"kernel={vmlinux}", "--only", "kernel/sched", "--to", "json", "kernel.ntrace",
                                    timeout=1200))
    counts = {function["name"]: function["count"] for file in document["files"] for function in file["functions"]}
    assert all(file["file"].startswith("kernel/sched/") for file in document["files"]) and len(document["files"]) > 20
    assert counts["sched_init"] == 1 and made < counts["wake_up_new_task"] <= made + 4, (made, counts["wake_up_new_task"])
    hit = [line["count"] for file in document["files"] for line in file["lines"]]
    assert 1000 < sum(count > 0 for count in hit) < len(hit), len(hit)


cases.main([decisions, only, code_of_a_trace, kernel_module, patched, tasks, linux_kernel], Bench, ("riscv64-linux-gnu-gcc",))

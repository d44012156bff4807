#!/usr/bin/env python3
"""Pins: VCD of `ntrace convert` in vcd2fst and sigrok-cli, and output of sigrok-cli in ntrace.

usage: pins.py NTRACE
"""
import os
import random
import shutil
import subprocess
import sys
import tempfile

NTRACE = sys.argv[1]
LINES = ["pib1", "pib2", "pib4", "pib8", "pib16", "swt-uart", "swt-manchester"]
BYTES = ["atb", "coresight"]
results = []


def check(name, good, why=""):
    results.append(good)
    print(f"{'ok' if good else 'not ok'} {len(results)} - {name}")
    if not good and why:
        print("# " + str(why).strip().replace("\n", "\n# "))


def skip(name, why):
    results.append(True)
    print(f"ok {len(results)} - {name} # SKIP {why}")


def run(*command):
    return subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def convert(*arguments):
    done = run(NTRACE, "convert", *arguments)
    return done.returncode, done.stdout, done.stderr.decode()


def random_trace(seed, messages=60):
    """Correctly framed messages; a fixed first one, so that the beginning can be found."""
    rng = random.Random(seed)
    out = bytes.fromhex("240d000b")
    for _ in range(messages):
        body = [rng.choice([0, 0x3F, rng.randrange(64)]) << 2 | rng.choice([0, 1]) for _ in range(rng.randrange(1, 20))]
        body[0] &= 0xFC
        out += bytes(body) + bytes([rng.randrange(64) << 2 | 3])
    return out


def there_and_back(folder):
    trace = folder + "/trace.nex"
    open(trace, "wb").write(random_trace(1))
    expected = open(trace, "rb").read()
    for name in LINES + BYTES:
        for extra in ([], ["--vcd"]) if name in LINES else ([],):
            status, _, messages = convert("--to", name, *extra, trace, "-o", folder + "/there")
            back = convert("--from", name, *extra, folder + "/there")
            good = status == 0 and back[0] == 0 and back[1] == expected
            check(f"{name} {' '.join(extra)} there and back", good, messages + back[2])
    status, _, messages = convert("--to", "ram", "--limit", "0xffc", trace, "-o", folder + "/there")
    options = messages.split("buffer is")[-1].split()
    back = convert("--from", "ram", *options, folder + "/there")
    check("ram there and back with the options that it prints", back[0] == 0 and back[1] == expected, messages + back[2])
    convert("--to", "ram", "--limit", "0xfc", trace, "-o", folder + "/there")
    status, got, messages = convert("--from", "ram", "--wp", 0x41, folder + "/there")
    check("a wrapped buffer begins with a message", status == 0 and got and expected.count(got[:20]) <= 1, messages)


def waveform_viewer(folder):
    if not shutil.which("vcd2fst"):
        skip("vcd2fst", "not installed")
        return
    for name in LINES:
        for center in ([], ["--clk-center"]):
            convert("--to", name, "--vcd", *center, folder + "/trace.nex", "-o", folder + "/pins.vcd")
            done = run("vcd2fst", folder + "/pins.vcd", folder + "/pins.fst")
            quiet = b"rror" not in done.stderr and b"arning" not in done.stderr
            check(f"vcd2fst takes {name} {' '.join(center)}", done.returncode == 0 and quiet and
                  os.path.getsize(folder + "/pins.fst") > 0, done.stderr.decode())


def logic_analyser(folder):
    """sigrok reads our VCD; ntrace reads sigrok's samples and VCD."""
    if not shutil.which("sigrok-cli"):
        skip("sigrok-cli", "not installed")
        return
    expected = open(folder + "/trace.nex", "rb").read()
    for name in LINES:
        vcd = folder + "/pins.vcd"
        convert("--to", name, "--vcd", "--beat-ns", 16, folder + "/trace.nex", "-o", vcd)
        pins = 1 if name.startswith("swt") else int(name[3:])
        clocked = name.startswith("pib")
        done = run("sigrok-cli", "-i", vcd, "-I", "vcd", "-O", "vcd", "-o", folder + "/sigrok.vcd")
        status, got, messages = convert("--from", name, "--vcd", folder + "/sigrok.vcd")
        check(f"{name}: VCD through sigrok-cli", status == 0 and got == expected, done.stderr.decode() + messages)
        done = run("sigrok-cli", "-i", vcd, "-I", "vcd", "-O", "binary", "-o", folder + "/samples.bin")
        order = ["--clock", 0, "--data", ",".join(str(1 + pin) for pin in range(pins))] if clocked else []
        status, got, messages = convert("--from", name, "--samples", pins + clocked, *order, folder + "/samples.bin")
        check(f"{name}: samples from sigrok-cli", status == 0 and got == expected, done.stderr.decode() + messages)


def trace_ids(folder):
    one, two = random_trace(2), random_trace(3)
    open(folder + "/one.nex", "wb").write(one)
    open(folder + "/two.nex", "wb").write(two)
    for name in BYTES:
        convert("--to", name, "--ids", "0x21,5", folder + "/one.nex", folder + "/two.nex", "-o", folder + "/both")
        check(f"{name}: one ID of two", convert("--from", name, "--id", 5, folder + "/both")[1] == two)
        status, _, messages = convert("--from", name, folder + "/both")
        check(f"{name}: several IDs into one stream are refused",
              status == 2 and "(0x21, 0x05)" in messages, f"{status} {messages}")
        status, _, messages = convert("--from", name, folder + "/both", "-o", folder + "/hart-%.nex")
        parts = [open(f"{folder}/hart-{i}.nex", "rb").read() for i in ("0x21", "0x05")]
        check(f"{name}: a file for each ID", status == 0 and parts == [one, two], messages)
        convert("--from", name, "--to", "coresight" if name == "atb" else "atb", folder + "/both", "-o", folder + "/other")
        got = convert("--from", "coresight" if name == "atb" else "atb", "--id", 0x21, folder + "/other")
        check(f"{name}: to the other one, IDs kept", got[1] == one, got[2])


def remarks(folder):
    """Damage, calibration and wrong use are reported, with the right exit status."""
    trace = folder + "/trace.nex"
    convert("--to", "pib4", "--calibrate", 5, trace, "-o", folder + "/pins")
    status, got, said = convert("--from", "pib4", folder + "/pins")
    check("calibration is reported", status == 0 and "end of 5 calibration patterns" in said and
          got == open(trace, "rb").read(), said)
    data = bytearray(open(folder + "/pins", "rb").read())
    data[300:330] = bytes([0xAA]) * 30
    open(folder + "/pins", "wb").write(data)
    status, got, said = convert("--from", "pib4", folder + "/pins")
    check("damage is reported and status 1", status == 1 and "alignment lost: reserved MSEO code 10" in said, said)
    status, _, said = convert("--from", "pib3", trace)
    check("an unknown transport lists the known ones", status == 2 and "swt-manchester" in said, said)
    status, _, said = convert("--from", "ram", trace)
    check("ram wants its write pointer", status == 2 and "--wp" in said, said)
    status, _, said = convert("--from", "ram", "--limit", 8, "--wp", 16, trace)
    check("a window that contradicts itself", status == 2 and "start <= wp <= limit" in said, said)
    status, _, said = convert("--from", "pib1", "--vcd", trace)
    check("a trace is no VCD", status == 2 and "not a VCD file" in said, said)
    status, _, said = convert("--vcd", trace)
    check("bytes have no pins", status == 2 and "has no pins" in said, said)
    status, _, said = convert("--from", "coresight", "--cut", trace)
    check("no frame synchronization", status == 1 and "no alignment found" in said, said)


with tempfile.TemporaryDirectory() as work:
    there_and_back(work)
    waveform_viewer(work)
    logic_analyser(work)
    trace_ids(work)
    remarks(work)
print(f"1..{len(results)}")
sys.exit(0 if all(results) else 1)

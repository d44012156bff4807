#!/usr/bin/env python3
"""Example programs do what their first comment says."""
import json
import os
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import tiny
from harness import ROOT, Run, bytes_of, case, check, equal, main, scratch, write

FOLDER = os.path.dirname(os.path.abspath(sys.argv[2]))


def example(name, *arguments, status=0, text=None):
    done = subprocess.run([os.path.join(FOLDER, "example_" + name), *arguments], input=text, capture_output=True, text=True, timeout=60,
                          check=False)
    equal(done.returncode, done.returncode if status is None else status, f"{name}: exit status ({done.stderr})")
    return done


@case("instructions: address, bits and privilege of each")
def instructions():
    moves = tiny.START + "Ownership PROCESS=0x4\nProgTraceCorrelation EVCODE=0 CDF=1 ICNT=9 HIST=0x5\n"
    found = example("instructions", write("program.elf", tiny.elf()), write("moves.nex", bytes_of(moves)))
    equal(found.stdout.split("\n"), ["0 S 0x00000100 908a", "0 S 0x00000102 0e000f63", "0 S 0x00000106 003100b3",
                                     "0 S 0x0000010a 1e000b63", "0 S 0x00000300 003100b3", ""], "its output")
    equal(found.stderr, "", "its complaints")
    found = example("instructions", "/nonexistent", write("moves.nex", b""), status=1)
    check("/nonexistent: No such file" in found.stderr, found.stderr)
    example("instructions", status=2)


@case("decode: the functions that were executed, and gaps")
def decode():
    program = write("program.elf", tiny.elf())
    found = example("decode", program, write("trace.nex", bytes_of(tiny.HTM)))
    equal(found.stdout, "0x00000100 start\n0x00000300 right\n", "its output")
    broken = write("broken.nex", bytes_of(tiny.START) + bytes([0x02]) + bytes_of(tiny.HTM))
    check("gap at byte" in example("decode", program, broken).stdout, "a gap is printed")
    example("decode", status=2)


@case("parallel: the spans in the order of the stream")
def parallel():
    found = example("parallel", write("program.elf", tiny.elf()), write("turns.nex", bytes_of(tiny.TURNS)))
    equal(found.stdout, "0x00000206 2\n" * 3, "its output")


@case("profile: functions with their instructions; a gap is told")
def profile():
    program = write("program.elf", tiny.elf())
    found = example("profile", program, write("trace.nex", bytes_of(tiny.HTM)))
    expected = {(row["function"], row["self"]) for row in
                json.loads(Run("profile", "--format", "json", "-e", program, write("trace.nex", bytes_of(tiny.HTM))).out)["rows"]}
    equal({(line.split()[2], int(line.split()[0])) for line in found.stdout.splitlines()}, expected, "its output")
    equal(sum(self for _, self in expected), 5, "instructions")
    broken = write("broken.nex", bytes_of(tiny.START) + bytes([0x02]) + bytes_of(tiny.HTM))
    check("a gap" in example("profile", program, broken).stderr, "a gap is told")
    example("profile", status=2)


@case("encode: the messages of an execution, as ntrace encode makes them")
def encode():
    program = write("program.elf", tiny.elf())
    pcs = "".join(f"{pc:#x}\n" for pc in tiny.PCS)
    found = example("encode", program, text=pcs)
    trace = os.path.join(os.path.dirname(program), "encoded.nex")
    equal(Run("encode", "--pc", write("pcs.txt", pcs.encode()), "-e", program, "-o", trace).status, 0, "ntrace encode")
    equal(found.stdout, Run("dump", trace).out, "its output")
    check("5000" in example("encode", program, text="5000\n", status=1).stderr, "an address without code is reported")


@case("memory: code from a callback")
def memory():
    found = example("memory", "0x100", write("code.bin", tiny.image()), write("trace.nex", bytes_of(tiny.HTM)))
    equal(found.stdout, "5 instructions, 2 branches, 0 gaps\n", "its output")
    found = example("memory", "0x9000", write("code.bin", tiny.image()), write("trace.nex", bytes_of(tiny.HTM)))
    check(" 0 gaps" not in found.stdout, "missing memory is a gap")


@case("system: the trace of a loop from the RAM sink of the model")
def system():
    found = example("system")
    trace = write("system.nex", bytes.fromhex(found.stdout))
    names = [line.split()[2] for line in Run("dump", trace).out.splitlines()]
    equal(names, ["ProgTraceSync", "ProgTraceCorrelation"], "messages")
    check("HIST=0xf" in Run("dump", trace).out, "three taken branches")


@case("each example has less than 70 lines")
def short():
    folder = os.path.join(ROOT, "examples")
    for name in ("bundle", "decode", "encode", "instructions", "memory", "parallel", "profile", "system"):
        lines = open(os.path.join(folder, name + ".c"), encoding="utf-8").read().count("\n")
        check(lines < 70, f"{name}.c has {lines} lines")


@case("bundle: the instructions of a bundle; a damaged stream, and a folder that is not a bundle")
def bundle():
    folder = os.path.join(scratch(), "tiny.ntrace")
    os.makedirs(os.path.join(folder, "images"))
    described = {"format": "ntrace-bundle", "version": 1, "stream": "trace.nex", "params": {"xlen": 64},
                 "images": [{"kind": "elf", "file": "images/tiny"}]}
    for name, content in (("capture.json", json.dumps(described).encode()), ("images/tiny", tiny.elf()),
                          ("trace.nex", bytes_of(tiny.BTM))):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content)
    found = example("bundle", folder)
    equal((found.stdout, found.stderr), ("5 instructions, 0 gaps\n", ""), "its output")
    with open(os.path.join(folder, "trace.nex"), "wb") as file:
        file.write(b"\x28\xb5\x2f\xfd" + b"junk")
    found = example("bundle", folder, status=None)
    check("expected the rest of a zstd frame" in found.stderr or "built without zstd" in found.stderr, found.stderr)
    found = example("bundle", "/nonexistent", status=1)
    check("/nonexistent: No such file" in found.stderr, found.stderr)
    example("bundle", status=2)


main()

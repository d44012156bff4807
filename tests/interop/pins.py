#!/usr/bin/env python3
"""Pins: VCD of `ntrace convert` in vcd2fst and sigrok-cli, and output of sigrok-cli in ntrace.

usage: pins.py NTRACE
"""
import functools
import os
import random
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import NTRACE, case, check, equal, main, need, scratch

LINES = ["pib1", "pib2", "pib4", "pib8", "pib16", "swt-uart", "swt-manchester"]
BYTES = ["atb", "coresight"]

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


@functools.cache
def trace_file(seed=1):
    return path(f"trace-{seed}.nex", random_trace(seed))


def path(name, content=None):
    """A file of the test, with this content."""
    whole = os.path.join(scratch(), name)
    if content is not None:
        with open(whole, "wb") as file:
            file.write(content)
    return whole


def content(name):
    with open(path(name), "rb") as file:
        return file.read()


def there_and_back(name, *extra):
    status, _, messages = convert("--to", name, *extra, trace_file(), "-o", path("there"))
    back = convert("--input-format", name, *extra, path("there"))
    check(status == 0 and back[0] == 0 and back[1] == random_trace(1), messages + back[2])


for each_name in LINES + BYTES:
    case(f"{each_name} there and back", each_name)(there_and_back)
for each_name in LINES:
    case(f"{each_name} --vcd there and back", each_name, "--vcd")(there_and_back)


@case("ram there and back with the options that it prints")
def ram():
    _, _, messages = convert("--to", "ram", "--ram-limit", "0xffc", trace_file(), "-o", path("there"))
    back = convert("--input-format", "ram", *messages.split("buffer is")[-1].split(), path("there"))
    check(back[0] == 0 and back[1] == random_trace(1), messages + back[2])


@case("a wrapped buffer begins with a message")
def wrapped():
    _, _, messages = convert("--to", "ram", "--ram-limit", "0xfc", trace_file(), "-o", path("there"))
    check(f"holds the last 256 bytes: the first {len(random_trace(1)) - 256} of the stream are not in it" in messages, messages)
    status, got, said = convert("--input-format", "ram", *messages.split("buffer is")[-1].split("\n")[0].split(), path("there"))
    check(status == 0 and got[:20] in random_trace(1) and random_trace(1).endswith(got), messages + said)
    status, _, said = convert("--input-format", "ram", "--ram-wp", 0x41, path("there"))
    check(status == 1 and "there: expected N-Trace messages, found 1 piece that is none beside" in said, said)  # not where it was written last


def waveform_viewer(name, *center):
    need("vcd2fst")
    convert("--to", name, "--vcd", *center, trace_file(), "-o", path("pins.vcd"))
    done = run("vcd2fst", path("pins.vcd"), path("pins.fst"))
    check(done.returncode == 0 and b"rror" not in done.stderr and b"arning" not in done.stderr and content("pins.fst"), done.stderr.decode())


for each_name in LINES:
    case(f"vcd2fst takes {each_name}", each_name)(waveform_viewer)
    case(f"vcd2fst takes {each_name} --clk-center", each_name, "--clk-center")(waveform_viewer)


def sigrok(name, *output):
    """Our VCD, read by sigrok and written in another form."""
    need("sigrok-cli")
    convert("--to", name, "--vcd", "--beat-ns", 16, trace_file(), "-o", path("pins.vcd"))
    return run("sigrok-cli", "-i", path("pins.vcd"), "-I", "vcd", *output).stderr.decode()


def sigrok_vcd(name):
    said = sigrok(name, "-O", "vcd", "-o", path("sigrok.vcd"))
    status, got, messages = convert("--input-format", name, "--vcd", path("sigrok.vcd"))
    check(status == 0 and got == random_trace(1), said + messages)


def sigrok_samples(name):
    said = sigrok(name, "-O", "binary", "-o", path("samples.bin"))
    pins, clocked = 1 if name.startswith("swt") else int(name[3:]), name.startswith("pib")
    order = ["--clock-wire", 0, "--data-wires", ",".join(str(1 + pin) for pin in range(pins))] if clocked else []
    status, got, messages = convert("--input-format", name, "--samples", pins + clocked, *order, path("samples.bin"))
    check(status == 0 and got == random_trace(1), said + messages)


for each_name in LINES:
    case(f"{each_name}: VCD through sigrok-cli", each_name)(sigrok_vcd)
    case(f"{each_name}: samples from sigrok-cli", each_name)(sigrok_samples)


def both(name):
    """The traces of two IDs in one stream."""
    convert("--to", name, "--trace-ids", "0x21,5", trace_file(2), trace_file(3), "-o", path("both"))
    return path("both")


@case("atb: one ID of two", "atb")
@case("coresight: one ID of two", "coresight")
def one_of_two(name):
    equal(convert("--input-format", name, "--trace-id", 5, both(name))[1], random_trace(3), "bytes")


@case("atb: several IDs into one stream are refused", "atb")
@case("coresight: several IDs into one stream are refused", "coresight")
def several_into_one(name):
    status, _, messages = convert("--input-format", name, both(name))
    check(status == 2 and "(0x21, 0x05)" in messages, f"{status} {messages}")


@case("atb: a file for each ID", "atb")
@case("coresight: a file for each ID", "coresight")
def file_for_each(name):
    status, _, messages = convert("--input-format", name, both(name), "-o", path("hart-%.nex"))
    check(status == 0 and [content(f"hart-{i}.nex") for i in ("0x21", "0x05")] == [random_trace(2), random_trace(3)], messages)


@case("atb: to CoreSight frames, IDs kept", "atb", "coresight")
@case("coresight: to ATB, IDs kept", "coresight", "atb")
def ids_kept(name, other):
    convert("--input-format", name, "--to", other, both(name), "-o", path("other"))
    _, got, messages = convert("--input-format", other, "--trace-id", 0x21, path("other"))
    check(got == random_trace(2), messages)


@case("calibration is reported")
def calibration():
    convert("--to", "pib4", "--calibrate", 5, trace_file(), "-o", path("pins"))
    status, got, said = convert("--input-format", "pib4", path("pins"))
    check(status == 0 and "end of 5 calibration patterns" in said and got == random_trace(1), said)


@case("damage is reported, with status 1")
def damage():
    convert("--to", "pib4", "--calibrate", 5, trace_file(), "-o", path("pins"))
    data = bytearray(content("pins"))
    data[300:330] = bytes([0xAA]) * 30
    status, _, said = convert("--input-format", "pib4", path("damaged", bytes(data)))
    check(status == 1 and "alignment lost: reserved MSEO code 10" in said, said)


REFUSALS = [("an unknown transport has a near one", ["--input-format", "pib3"], 2, "no transport 'pib3'; did you mean 'pib1'?"),
            ("and one like no other the list", ["--input-format", "serial"], 2, "swt-manchester"),
            ("ram wants its write pointer", ["--input-format", "ram"], 2, "--ram-wp"),
            ("a window that contradicts itself", ["--input-format", "ram", "--ram-limit", 8, "--ram-wp", 16], 2, "start <= wp <= limit"),
            ("a trace is no VCD", ["--input-format", "pib1", "--vcd"], 2, "not a VCD file"),
            ("bytes have no pins", ["--vcd"], 2, "has no pins"),
            ("no frame synchronization", ["--input-format", "coresight", "--cut"], 1, "no alignment found")]


def refused(arguments, expected, words):
    status, _, said = convert(*arguments, trace_file())
    check(status == expected and words in said, f"status {status}: {said}")


for each_name, *each_refusal in REFUSALS:
    case(each_name, *each_refusal)(refused)
main()

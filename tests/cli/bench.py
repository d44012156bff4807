#!/usr/bin/env python3
"""bench: the rates of a trace, in text and as JSON lines."""
import json
import os
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import tiny
from harness import NTRACE, bytes_of, case, check, equal, main, write


def bench(stream, *options, status=0):
    done = subprocess.run([NTRACE, "bench", write("t.nex", stream), "-e", write("program.elf", tiny.elf()), *options],
                          capture_output=True, text=True)
    equal(done.returncode, status, f"exit status ({done.stderr})")
    return done.stdout


def rows(text):
    return {(row.pop("kind"), row.pop("name")): row for row in map(json.loads, text.splitlines())}


@case("every stage has its time and its rates")
def stages():
    block = bytes_of(tiny.BTM + tiny.HTM)
    table = rows(bench(block * 2000, "--rounds", "3", "--format", "jsonl"))
    trace = next(row for key, row in table.items() if key[0] == "trace")
    equal(trace, {"bytes": len(block) * 2000, "messages": 5 * 2000, "instructions": 2 * len(tiny.PCS) * 2000, "gaps": 0}, "trace")
    for key in ("messages", "check"), ("messages", "read"), ("execution", "count"), ("execution", "events"):
        row = table[key]
        check(all(value > 0 for value in row.values()), f"{key}: {row}")
        equal(round(row["ns/message"] * trace["messages"] / 1e6 / row["ms"], 1), 1.0, f"{key}: time a message")
        equal(round(row["MB/s"] * row["ms"] / 1e3 / trace["bytes"] * 1e6, 1), 1.0, f"{key}: bytes a second")
    check(table["execution", "count"]["M_instr/s"] > 0, "instructions a second")
    equal({key[1] for key in table if key[0] == "time"}, {"messages", "walks and events"}, "shares")


@case("--size measures the beginning only")
def beginning():
    block = bytes_of(tiny.BTM)
    for shift in range(0, len(block), 5):  # whole messages, wherever the megabyte ends
        stream = b"\xff" * shift + block * (2 ** 20 // len(block) + 1000)
        table = rows(bench(stream, "--rounds", "1", "--size", "1", "--format", "jsonl"))
        size = next(row for key, row in table.items() if key[0] == "trace")["bytes"]
        check(2 ** 20 - len(block) < size <= 2 ** 20, f"bytes: {size}")


@case("an empty trace is reported as by other commands")
def empty():
    bench(b"", "--rounds", "1", status=1)


@case("a trace with gaps is measured, and the gaps are reported")
def gaps():
    table = rows(bench(bytes_of(tiny.BTM) + b"\xfe\x03" + bytes_of(tiny.BTM), "--rounds", "1", "--format", "jsonl", status=1))
    equal(next(row for key, row in table.items() if key[0] == "trace")["gaps"], 1, "gaps")


@case("text has the same rows")
def text():
    found = bench(bytes_of(tiny.HTM), "--rounds", "1")
    for word in ("check", "read", "count", "events", "ns/message", "M instr/s"):
        check(word in found, f"no {word}")


main()

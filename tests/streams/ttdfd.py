#!/usr/bin/env python3
"""Streams of the tt-dfd hardware decode to their truth: messages, program counters, times, contexts and trap values.

usage: ttdfd.py LIST_PCS NTRACE
"""
import csv
import json
import os
import re
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import SHARED, check, corpus_cases, main, need

LIST_PCS, NTRACE = sys.argv[1:3]
CORPUS = os.path.join(SHARED, "corpus", "ttdfd")

EXACT = ("median", "dhrystone-ts", "traps", "traps-ts", "pingpong", "long")
LOSSY = {"control": 14805, "lossy": 13073, "lossy-ts": 20759}  # instructions that can be known
FRAME = 64
PRIVILEGE = {"0": 0, "1": 1, "3": 3}
OWN_NAMES = {"VendorTval": "TrapValue"}


def run(*command, stdin=None):
    return subprocess.run(command, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)


def path(folder, name):
    return os.path.join(CORPUS, folder, name)


def unpacked(folder, name):
    return subprocess.run([need("zstd"), "-dcq", path(folder, name)], stdout=subprocess.PIPE, check=True).stdout.decode()


def truth_messages(folder):
    """(offset, name, fields) of each message."""
    for row in csv.DictReader(unpacked(folder, "messages.csv.zst").splitlines()):
        if row["message"] == "stray":
            continue
        fields = dict(pair.split("=") for pair in row["fields"].split())
        fields.pop("empty", None)
        yield (int(row["offset"]), OWN_NAMES.get(row["message"], row["message"]),
               {name: int(value, 0) for name, value in fields.items()})


def our_messages(folder):
    done = run(NTRACE, "dump", "--dialect", "tt-dfd", path(folder, "trace.nex"))
    for line in done.stdout.decode().splitlines():
        words = line.split()
        fields = dict(word.split("=") for word in words[3:])
        yield (int(words[1][1:], 0), words[2], {name: int(value.split(":")[0], 0) for name, value in fields.items()})


def check_messages(folder):
    want, got = list(truth_messages(folder)), list(our_messages(folder))
    different = next((pair for pair in zip(want, got) if pair[0] != pair[1]), (len(want), len(got)))
    check(want and want == got, different)


def check_text(folder):
    """The text of `dump` has every bit of the messages; idle and stray bytes are left out."""
    text = run(NTRACE, "dump", "--dialect", "tt-dfd", path(folder, "trace.nex")).stdout
    back = run(NTRACE, "assemble", "--dialect", "tt-dfd", "-", stdin=text).stdout
    want = b"".join(bytes.fromhex(row["bytes"]) for row in csv.DictReader(unpacked(folder, "messages.csv.zst").splitlines())
                    if row["message"] != "stray")
    check(want and back == want, f"{len(back)} bytes of {len(want)}")


def check_exact(folder):
    want = unpacked(folder, "pc.txt.zst")
    got = run(LIST_PCS, "-v", "-d", "tt-dfd", path(folder, "trace.nex"), path(folder, "program.elf"))
    check(want and got.stdout.decode() == want and got.returncode == 0, got.stderr.decode())


def check_encoder(folder, source):
    """Our encoder makes the same bytes of the same execution: messages, stray bytes and frames."""
    done = run(NTRACE, "encode", "--dialect", "tt-dfd", "--src-id", source, "--pc", "-", "-e", path(folder, "program.elf"),
               stdin=unpacked(folder, "pc.txt.zst").encode())
    with open(path(folder, "trace.nex"), "rb") as file:
        want = file.read()
    check(want and done.stdout == want, f"{len(done.stdout)} bytes of {len(want)} {done.stderr.decode()}")


def is_subsequence(part, whole):
    rest = iter(whole)
    return all(line in rest for line in part)


def check_lossy(folder, instructions):
    """One gap for each Error, none for another reason."""
    got = run(LIST_PCS, "-v", "-d", "tt-dfd", path(folder, "trace.nex"), path(folder, "program.elf"))
    pcs = got.stdout.decode().split()
    said = got.stderr.decode()
    losses = sum(name == "Error" for _, name, _ in truth_messages(folder))
    good = is_subsequence(pcs, unpacked(folder, "pc.txt.zst").split()) and len(pcs) == instructions
    check(good and losses and said.count("OVERFLOW") == losses == said.count("\n"),
          f"{len(pcs)} program counters\n{said}")


def events_of(folder):
    done = run(NTRACE, "decode", "--dialect", "tt-dfd", "--format", "jsonl", path(folder, "trace.nex"), "-e",
               path(folder, "program.elf"))
    return [json.loads(line) for line in done.stdout.splitlines()]


def truth_events(folder):
    """(instructions before, letter, argument)"""
    for line in open(path(folder, "events.txt"), encoding="ascii"):
        at, letter, argument = line.split(maxsplit=2)
        yield int(at), letter, argument.strip()


def check_events(folder):
    events, truth = events_of(folder), list(truth_events(folder))
    traps = [int(re.search(r"tval=([0-9a-f]+)", text).group(1), 16) for _, letter, text in truth if letter in "EI"]
    values = [int(e["data"], 16) for e in events if e["kind"] == "trap-value"]
    check(traps and traps == values, values)

    changes = sorted({at for at, letter, _ in truth if letter in "PC"})
    executed, mode, wrong = 0, None, []
    state, states = {"P": None, "C": None}, {}
    for at in changes:
        for _, letter, argument in (t for t in truth if t[0] == at and t[1] in "PC"):
            state[letter] = PRIVILEGE[argument] if letter == "P" else int(argument)
        states[at] = dict(state)
    contexts = 0
    for e in events:
        if e["kind"] == "context":
            contexts += 1
            mode = e["prv"]
            now = states[max(at for at in changes if at <= executed)]
            if now["P"] != mode or now["C"] != int(e["scontext"], 16):
                wrong.append((executed, now, e))
        elif e["kind"] == "span" and e["instructions"]:
            now = states[max(at for at in changes if at <= executed)]
            if now["P"] != mode and mode is not None:
                wrong.append((executed, now, e))
            executed += e["instructions"]
    check(contexts and executed and not wrong, wrong[:2])


def check_times(folder):
    """The time of an event is the TSTAMP of its message, or that of the last message with one."""
    last, times = None, {}
    for offset, name, fields in truth_messages(folder):
        if name != "RepeatBranch":  # its time is that of the last repetition
            times[offset] = fields.get("TSTAMP", last)
        last = fields.get("TSTAMP", last)
    timed = [e for e in events_of(folder) if e["offset"] in times and e["kind"] != "gap" and "time" in e]
    wrong = [e for e in timed if e["time"] != times[e["offset"]]]
    check(timed and not wrong, wrong[:2])


def check_source(folder, source):
    """Each source of a shared memory decodes as in its own stream."""
    got = run(LIST_PCS, "-d", "tt-dfd", "-i", str(source), path("three-sources", "trace.nex"), path(folder, "program.elf"))
    want = unpacked(folder, "pc.txt.zst")
    check(want and got.stdout.decode() == want, got.stderr.decode())


def check_no_source(folder):
    got = run(LIST_PCS, "-d", "tt-dfd", "-s", "0", path(folder, "trace.nex"), path(folder, "program.elf"))
    pcs = got.stdout.decode().split()
    check(len(pcs) == 114 and is_subsequence(pcs, unpacked(folder, "pc.txt.zst").split()), f"{len(pcs)} {got.stderr.decode()}")


def messages_of(data):
    """{offset: text} of each message, without its number."""
    lines = run(NTRACE, "dump", "--dialect", "tt-dfd", "-", stdin=data).stdout.decode().splitlines()
    return {int(line.split()[1][1:], 0): line.split(maxsplit=2)[2] for line in lines}


def check_damage(folder):
    """Damage stays in its frame: behind it, at most the first message of the next frame is lost. No message crosses the end of a
    frame, so an end of message that is damaged only joins the rest of the frame with that message."""
    with open(path(folder, "trace.nex"), "rb") as file:
        sound = file.read()
    before, wrong = messages_of(sound), []
    for number in range(0, len(sound) // FRAME - 1, 3):
        for damage in (bytes(FRAME), bytes(FRAME - 1) + b"\xaa", bytes(i * 37 & 255 for i in range(FRAME))):
            begin, end = number * FRAME, (number + 1) * FRAME
            after = messages_of(sound[:begin] + damage + sound[end:])
            behind = [offset for offset in before if offset >= end]
            lost = [offset for offset in behind if after.get(offset) != before[offset]]
            invented = [offset for offset in after if offset >= end and offset not in before]
            ahead = [offset for offset in before if offset < begin and after.get(offset) != before[offset]]
            if lost not in ([], behind[:1]) or invented or ahead:
                wrong.append((number, damage[:4].hex(), lost[:3], invented[:3], ahead[:3]))
    check(len(before) > 100 and not wrong, f"{len(before)} messages, {wrong[:2]}")


def check_resumes(folder):
    """After a frame that is lost, execution goes on at the next synchronizing message."""
    with open(path(folder, "trace.nex"), "rb") as file:
        sound = file.read()
    syncs = [offset for offset, text in messages_of(sound).items() if text.startswith("IndirectBranchHistSync")]
    frame = next(at for at in range(syncs[0] // FRAME + 1, len(sound) // FRAME) if not any(at * FRAME <= s < at * FRAME + FRAME for s in syncs))
    damaged = sound[:frame * FRAME] + bytes(FRAME) + sound[(frame + 1) * FRAME:]
    done = run(NTRACE, "decode", "--dialect", "tt-dfd", "--format", "jsonl", "-", "-e", path(folder, "program.elf"), stdin=damaged)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    gaps = [i for i, event in enumerate(events) if event["kind"] == "gap"]
    resumed = next((event["offset"] for event in events[gaps[0]:] if event["kind"] == "sync"), None) if gaps else None
    want = next(s for s in syncs if s > (frame + 1) * FRAME)
    check(len(gaps) == 1 and resumed == want, f"{len(gaps)} gaps, {resumed} instead of {want}")


def check_fill(folder, fill):
    """Frames whose rest is filled with another byte are recognized, and decode alike. In the beginning of a file two rests suffice."""
    with open(path(folder, "trace.nex"), "rb") as file:
        other = bytearray(file.read())
    messages = list(truth_messages(folder))
    ends = [offset for offset, _, _ in messages[1:]] + [len(other)]
    for (offset, _, _), end in zip(messages, ends):
        at = offset + next(i for i, byte in enumerate(other[offset:end]) if byte & 3 == 3) + 1
        other[at:end] = bytes(fill if byte == 0xff else byte for byte in other[at:end])
    got = run(NTRACE, "decode", "--show", "pc", "-", "-e", path(folder, "program.elf"), stdin=bytes(other))
    want = unpacked(folder, "pc.txt.zst")
    check(want and got.stdout.decode() == want and f"filled with {fill:#04x}" in got.stderr.decode(),
          got.stderr.decode())


def cases(_):
    for folder in EXACT:
        yield f"{folder}: program counters", check_exact, folder
    for folder, instructions in LOSSY.items():
        yield f"{folder}: {instructions} program counters in order, and the losses", check_lossy, folder, instructions
    for folder in (*EXACT, *LOSSY):
        yield f"{folder}: messages", check_messages, folder
        yield f"{folder}: assembled from its text", check_text, folder
    for folder in ("traps", "traps-ts"):
        yield f"{folder}: trap values, contexts and the privilege of every span", check_events, folder
    for folder in ("traps-ts", "lossy-ts"):
        yield f"{folder}: times of events", check_times, folder
    for source, folder in ((0, "median"), (3, "pingpong"), (1, "long")):
        yield f"three-sources: source {source} is {folder}", check_source, folder, source
    for folder in EXACT:
        yield f"{folder}: filled with 0x80", check_fill, folder, 0x80
    yield "median: damage stays in its frame", check_damage, "median"
    yield "dhrystone-ts: resumes after a lost frame", check_resumes, "dhrystone-ts"
    for folder, source in (("median", "0"), ("pingpong", "3")):
        yield f"{folder}: encoded", check_encoder, folder, source
    yield "towers-nosrc: 114 program counters in order", check_no_source, "towers-nosrc"


corpus_cases("ttdfd", 45, cases)
main()

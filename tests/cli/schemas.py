#!/usr/bin/env python3
"""Every JSON output follows its schema of docs/schemas, and says what it rests on: `quality`.

usage: schemas.py NTRACE
"""
import json
import os
import re
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import ROOT, Run, case, check, equal, main, need, scratch, skip, write

SCHEMAS = os.path.join(ROOT, "docs", "schemas")
SOURCE = """
static volatile int sum;
static __attribute__((noinline)) void add(int n) { if (n & 1 && n != 3) sum += n; }
__attribute__((noinline)) void turn(void) { for (int i = 0; i < 5; i++) add(i); }
void _start(void) {
    turn();
    __asm__ volatile("li a0, 0\\n li a7, 93\\n ecall");
    __builtin_unreachable();
}
"""
BOARD = """{"components": [{"name": "encoder0", "type": "encoder", "base": "0x10000000", "hart": 0, "to": "sink0"},
 {"name": "sink0", "type": "ram", "base": "0x10010000"}]}"""

# Command, its schema. {} is the trace; the options make every kind of row.
OUTPUTS = (
    ("profile {}", "profile"), ("profile --by line {}", "profile"), ("profile --by instruction {}", "profile"), ("profile --by image {}", "profile"),
    ("profile --by hart {}", "profile"), ("profile --by context {}", "profile"), ("profile --by process {}", "profile"),
    ("profile --by mode {}", "profile"), ("profile --callers add --callees turn {}", "profile"), ("profile --annotate=add {}", "profile"),
    ("profile --by data {}", "data"), ("profile --by syscall cut.nex", "syscalls"),
    ("decode --show pc {}", "instructions"), ("decode --show insn {}", "instructions"), ("decode --show count {}", "counts"),
    ("decode {}", "events"), ("decode --show branch {}", "events"), ("decode --show call {}", "events"), ("decode --show event {}", "events"), ("decode --show data {}", "events"),
    ("decode --show none {}", "events"),
    ("stat {}", "stat"), ("dump {}", "dump"), ("check {}", "check"), ("check --list-rules", "rules"), ("diff {} cut.nex", "diff"),
    ("regs", "regs"), ("regs trTeControl=0x7", "regs"), ("probe -t board.json --mem registers", "probe"), ("doctor", "doctor"),
    ("coverage {}", "lines"), ("coverage --level object {}", "object"), ("compare {} cut.nex", "compare"),
    ("timeline --to json {}", "interrupts"),
)
ELSEWHERE = {"boot": "machine", "decisions": "mcdc", "evidence": "evidence", "tests": "evidence", "explore": "engine"}  # a test of tests/
NOT_ROWS = ("lines", "object", "compare", "interrupts", "doctor")


def trace():
    """A bundle; and its stream with a part missing, and a topology of a board, beside it."""
    path = os.path.join(scratch(), "small.ntrace")
    if os.path.exists(path):
        return path
    write("small.c", SOURCE.encode())
    subprocess.run([need("riscv64-linux-gnu-gcc"), "-static", "-nostdlib", "-g", "-O1", "-Wl,--build-id", "-o", "small", "small.c"], check=True, cwd=scratch())
    Run("run", "--icnt-bits", "4", "-o", path, "--", os.path.join(scratch(), "small"))
    stream = open(os.path.join(path, "trace.nex"), "rb").read()
    write("cut.nex", stream[:len(stream) // 2] + stream[len(stream) // 2 + 3:])
    write("board.json", BOARD.encode())
    write("registers", bytes(0x20000))
    return path


def read_schema(name):
    with open(os.path.join(SCHEMAS, name + ".schema.json"), encoding="utf-8") as file:
        return json.load(file)


def output(command, *options):
    """The output of a command on the trace; cut.nex is a stream of the same program."""
    bundle = trace()
    words = [os.path.join(scratch(), w) if w in ("cut.nex", "board.json", "registers") else w for w in command.format(bundle).split()]
    if "cut.nex" in command:
        options += ("-e", os.path.join(scratch(), "small"), "--auto")
    return Run(*words, *options, status=None)


def validate(pairs):
    """Validates documents, (name, schema, document) each, in one process."""
    write("pairs.json", json.dumps(pairs).encode())
    text = ("import json, sys\n"
            "try: import jsonschema\n"
            "except ModuleNotFoundError: sys.exit(77)\n"
            "known = {}\n"
            "for name, schema, document in json.load(open('pairs.json')):\n"
            "    validator = known.get(json.dumps(schema))\n"
            "    if not validator:\n"
            "        jsonschema.Draft202012Validator.check_schema(schema)\n"
            "        validator = known[json.dumps(schema)] = jsonschema.Draft202012Validator(schema)\n"
            "    for error in validator.iter_errors(document): print(name, error.json_path, error.message[:300])")
    done = subprocess.run(["/usr/bin/python3", "-c", text], capture_output=True, text=True, check=False, cwd=scratch())
    if done.returncode == 77:
        skip("python-jsonschema")
    check(done.returncode == 0, done.stderr[-500:])
    return done.stdout


@case("documents and lines of every command follow the schema of their format; every schema is used")
def outputs():
    pairs = []
    for command, name in OUTPUTS:
        done = output(command, *([] if "--to" in command else ["--format", "json"]))
        check(done.status in (0, 1), f"{command}: {done.err}")
        document = json.loads(done.out)
        equal((document["format"], document["version"]), ("ntrace-" + name, 1), command)
        pairs.append((command, read_schema(name), document))
        if name in NOT_ROWS:
            continue
        schema = read_schema(name)
        lines = output(command, "--format", "jsonl").rows()
        equal(lines, document["rows"], f"{command}: JSON lines and rows")
        pairs += [(command, {"$ref": "#/$defs/row", "$defs": schema["$defs"]}, line) for line in lines[:50]]
    equal(validate(pairs), "", "errors")
    used = {name for _, name in OUTPUTS} | set(ELSEWHERE) | {"quality"}
    equal(sorted(used), sorted(name.split(".")[0] for name in os.listdir(SCHEMAS)), "schemas")


@case("a document that differs from its schema is refused: the validation works")
def wrong():
    document = json.loads(output("profile {}", "--format", "json").out)
    changes = {"version": {"version": 2}, "row": {"rows": [{"self": -1, "total": 1, "calls": 1}]},
               "quality": {"quality": {**document["quality"], "gaps": "none"}}, "member": {"more": 1}}
    said = validate([(name, read_schema("profile"), {**document, **change}) for name, change in changes.items()])
    equal(sorted({line.split()[0] for line in said.splitlines()}), sorted(changes), "refused")


@case("the member quality has one schema")
def one_quality():
    expected = {k: v for k, v in read_schema("quality").items() if k not in ("$schema", "title")}
    names = [name.split(".")[0] for name in os.listdir(SCHEMAS)]
    having = [name for name in names if "quality" in read_schema(name).get("$defs", {})]
    for name in having:
        equal(read_schema(name)["$defs"]["quality"], expected, name)
    check(len(having) > 10, str(having))


@case("text that is no JSON is refused as a document")
def no_document():
    said = Run("decode", "--show", "itc", "--format", "json", trace(), status=2)
    equal((said.out, said.err), ("", "ntrace decode: --show itc prints the text of a channel; --show event --format json has its messages\n"), "itc")


@case("every command with JSON output is among these")
def complete():
    commands = re.findall(r"^  (\w+) ", Run("help").out, re.MULTILINE)
    known = {command.split()[0] for command, _ in OUTPUTS} | {"explore"}
    for command in commands:
        if command != "help" and re.search(r"--format [a-z|]*json", Run("help", command).out):
            check(command in known, f"{command}: its JSON has no schema here")


@case("quality: messages, bytes and instructions are those of the stream; damage is counted; the image by its build id")
def quality():
    bundle = trace()
    counts = Run("decode", "--show", "count", "--format", "jsonl", bundle).rows()[0]
    build_id = re.search(r"Build ID: (\w+)", subprocess.run(["readelf", "-n", os.path.join(scratch(), "small")], capture_output=True, text=True, check=True).stdout)[1]
    size = os.path.getsize(os.path.join(bundle, "trace.nex"))
    both = json.loads(output("diff {0} {0}", "--format", "json").out)["quality"]
    equal([both[k] for k in ("messages", "bytes", "gaps", "instructions", "named_percent", "losses")],
          [2 * counts["messages"], 2 * size, 0, 2 * counts["instructions"], 100, []], "diff: both traces together")
    equal([image["build_id"] for image in both["images"]], [build_id], "diff: the image once")
    for command in ("profile {}", "profile --by line {}", "decode --show count {}", "decode --show pc {}", "stat {}", "coverage {}"):
        found = json.loads(output(command, "--format", "json").out)["quality"]
        equal([found[k] for k in ("messages", "messages_used", "bytes", "bytes_lost", "gaps", "ticks_lost", "instructions", "named_percent", "losses")],
              [counts["messages"], counts["messages"], size, 0, 0, 0, counts["instructions"], 100, []], command)
        equal([image["build_id"] for image in found["images"]], [build_id], f"{command}: image")
        check(found["images"][0]["fits"] > 0 and found["images"][0]["contradicts"] == 0, f"{command}: fit {found['images']}")
    gaps = Run("decode", "--show", "event", "-e", os.path.join(scratch(), "small"), "--auto", os.path.join(scratch(), "cut.nex"), status=1).rows()
    gaps = [row for row in gaps if row["kind"] == "gap"]
    check(gaps, "no gap")
    for command in ("profile", "profile --by line", "decode --show count", "decode", "coverage", "stat"):
        found = json.loads(output(command + " cut.nex", "--format", "json").out)["quality"]
        lost = sum(gap["until"] - gap["offset"] for gap in gaps), sum(gap["until_message"] - gap["message"] for gap in gaps)
        equal((found["gaps"], found["bytes_lost"], found["messages"] - found["messages_used"]), (len(gaps), *lost), command)
        equal(found["ticks_lost"], None, command)  # the stream has no time


@case("quality: what is not known is null: parts of a trace, partial answers, messages alone")
def unknown():
    part = json.loads(output("profile --until #3 {}", "--format", "json").out)["quality"]
    equal((part["messages"], part["messages_used"], part["bytes"]), (None, None, None), "a part")
    partial = os.path.join(scratch(), "small.part")
    Run("profile", "--partial", partial, trace())
    found = json.loads(Run("profile", partial, "--format", "json").out)["quality"]
    equal((found["messages"], found["bytes"], found["gaps"]), (None, None, 0), "partial answer")
    check(found["instructions"] > 0, str(found))
    equal([json.loads(output("dump {}", "--format", "json").out)["quality"][k] for k in ("gaps", "instructions")], [None, None], "dump")


@case("quality: more images than are listed are a loss that is named")
def many_images():
    code = write("two.bin", b"\x01\x00")
    for count, expected in ((1024, []), (1025, ["images: only the first 1,024 are listed here"])):
        raw = [f"--raw={code}@{0x1000000 + 16 * i:#x}" for i in range(count)]
        stream = os.path.join(trace(), "trace.nex")
        found = json.loads(Run("profile", stream, *raw, "--format", "json", status=None).out)["quality"]
        equal((found["losses"], len(found["images"])), (expected, 1), f"{count} images")


@case("quality: code without names, and the report, say it")
def named():
    bundle = trace()
    bare = os.path.join(scratch(), "bare")
    subprocess.run([need("riscv64-linux-gnu-strip"), "-o", bare, os.path.join(scratch(), "small")], check=True)
    stream = os.path.join(scratch(), "whole.nex")
    write("whole.nex", open(os.path.join(bundle, "trace.nex"), "rb").read())
    for command in ("profile", "profile --by line", "decode --show count"):
        found = json.loads(Run(*command.split(), "-e", bare, "--auto", "--format", "json", stream, status=None).out)["quality"]
        equal(found["named_percent"], 0, f"{command}: {found}")
    Run("report", "-o", os.path.join(scratch(), "r.html"), bundle)
    text = open(os.path.join(scratch(), "r.html"), encoding="utf-8").read()
    check('["named code","100.00 % of the instructions"]' in text and "build id " in text, "report")


main()

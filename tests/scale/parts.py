#!/usr/bin/env python3
"""Parts of captures (--shard), put together in any order, are the whole, byte by byte; wrong guesses are found. TAP on standard output.

usage: parts.py NTRACE [CAPTURES]
"""
import itertools
import os
import random
import shutil
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import captures
from harness import NTRACE, Run, case, check, equal, main, matches, need, scratch, skip

CAPTURES = int(sys.argv[2]) if len(sys.argv) > 2 else 6
COMMANDS = [["profile", "--format", "csv"], ["flame", "--to", "folded"], ["export", "--to", "calltree"], ["export", "--to", "callgrind"],
            ["profile", "--by", "instruction", "--format", "csv"], ["profile", "--by", "image"], ["coverage", "--level", "object"],
            ["flame", "--per", "hart", "--to", "speedscope"], ["export", "--to", "bolt"], ["profile", "--by", "context"]]


def path(name):
    return os.path.join(scratch(), name)


def parts_of(trace, command, count, *more):
    files = []
    for part in range(1, count + 1):
        files.append(path(f"{os.path.basename(trace)}-{part}-{count}.part"))
        done = Run(*command, "--partial", files[-1], "--shard", f"{part}/{count}", trace, *more, status=None)
        check(done.status < 2, f"part {part}/{count}: {done.err}")
    return files


def whole(trace, command, *more):
    """What one process and two threads show."""
    one = Run(*command, trace, *more, status=None)
    two = Run(*command, "-j", "2", trace, *more, status=None)
    equal((two.status, two.out), (one.status, one.out), f"{command} -j2")
    return one


@case("parts put together in random order are the whole, for random captures, also damaged ones, and every command")
def random_captures():
    for seed in range(CAPTURES):
        chance = random.Random(seed)
        capture = captures.Capture(NTRACE, scratch(), 1000 + seed, length=chance.choice([300, 3000, 12000]), sync=chance.choice([0, 1, 3]),
                                   damage=chance.choice([0, 0, 1, 6]))
        for command in chance.sample(COMMANDS, 4):
            expected = whole(capture.path, command)
            files = parts_of(capture.path, command, chance.choice([1, 2, 3, 5, 9]))
            chance.shuffle(files)
            shown = Run("combine", "--redo", *files, *command, status=None)
            equal((shown.status, shown.out), (expected.status, expected.out), f"{command} of {seed} {capture.options} {files}: {shown.err}")


@case("most guesses are right: captures without damage need no --redo")
def guesses():
    for seed in range(CAPTURES):
        capture = captures.Capture(NTRACE, scratch(), 2000 + seed, length=6000)
        files = parts_of(capture.path, ["profile"], 7)
        equal(Run("combine", *files, "profile").out, whole(capture.path, ["profile"]).out, f"{seed} {capture.options}")


def raw_of(capture):
    """The stream of a capture as a file of its own, and the options to read it."""
    raw = path(os.path.basename(capture.path) + ".nex")
    shutil.copy(os.path.join(capture.path, "trace.nex"), raw)
    return raw, ["-e", os.path.join(capture.path, "images", "program"), "--no-timestamps"]


@case("a raw stream, and one of zstd frames, are divided too")
def streams():
    short, options = raw_of(captures.Capture(NTRACE, scratch(), 5, length=2000, options=["--mode", "btm"]))
    done = Run("combine", *parts_of(short, ["profile"], 4, *options), "profile")
    equal((done.out, done.err), (Run("profile", short, *options).out, ""), "some parts are empty")
    raw, image = raw_of(captures.Capture(NTRACE, scratch(), 3000, length=8000, options=["--mode", "btm"]))
    command = ["profile", "--format", "csv"]
    expected = whole(raw, command, *image)
    equal(Run("combine", *parts_of(raw, command, 4, *image), *command).out, expected.out, "raw")
    zstd = need("zstd")
    with open(raw, "rb") as file:
        data = file.read()
    for sized in (False, True):  # frames with the length of their content are skipped as a whole
        with open(raw + ".zst", "wb") as file:
            for at in range(0, len(data), 1000):
                frame = data[at:at + 1000]
                size = [f"--stream-size={len(frame)}"] if sized else []
                file.write(subprocess.run([zstd, "-q", "-c", *size], input=frame, capture_output=True, check=True).stdout)
        if "without zstd" in Run(*command, raw + ".zst", *image, status=None).err:
            skip("build-zstd")
        equal(Run("combine", *parts_of(raw + ".zst", command, 4, *image), *command).out, expected.out, "frames")


@case("--index: made once for all parts of a raw stream, and for --from; made again for another stream or other parameters")
def index_file():
    capture = captures.Capture(NTRACE, scratch(), 3100, length=8000, options=["--mode", "btm"])
    raw, options = raw_of(capture)
    index, command = path("raw.index"), ["profile", "--format", "csv"]
    expected = whole(raw, command, *options)
    files = parts_of(raw, command, 4, *options, "--index", index)
    equal(Run("combine", *files, *command).out, expected.out, "raw")
    with open(index, encoding="ascii") as file:
        made = file.read()
    check(made.startswith("ntrace-index 1 stream ") and made.count("\nsync ") > 8, f"index: {made[:200]}")
    # An index without points: the stream is one part, which shows that the file is used.
    lines = made.splitlines(keepends=True)
    with open(index, "w", encoding="ascii") as file:
        file.write("".join([*lines[:3], lines[-1]]))
    parts_of(raw, command, 2, *options, "--index", index)
    with open(index, encoding="ascii") as file:
        equal(len(file.readlines()), 4, "used as it is")
    equal(Run("decode", "--from", "900", "--index", index, raw, *options).out, Run("decode", "--from", "900", raw, *options).out, "one point")
    parts_of(raw, command, 2, *options, "--index", index, "--ts-width", "40")
    with open(index, encoding="ascii") as file:
        equal(file.read().splitlines()[1:], made.splitlines()[1:], "made for other parameters")
    for output in ("span", "pc", "event", "count"):
        equal(Run("decode", "--show", output, "--from", "900", "--until", "950", "--index", index, raw, *options).out,
              Run("decode", "--show", output, "--from", "900", "--until", "950", raw, *options).out, output)
    part = ["--from", "700", "--until", "@9000"]
    equal(Run(*command, *part, "--index", index, raw, *options).out, Run(*command, *part, raw, *options).out, "profile")
    with open(raw, "ab") as file:
        file.write(b"\xff\xff")
    files = parts_of(raw, command, 3, *options, "--index", index)
    with open(index, encoding="ascii") as file:
        matches(f"^ntrace-index 1 stream {os.path.getsize(raw)} ", file.read(), "made for another size")
    equal(Run("combine", *files, *command).out, expected.out, "longer")


@case("--index of a bundle prevails over its own, which a folder without write permission does not get")
def index_of_bundle():
    capture = captures.Capture(NTRACE, scratch(), 3101, length=4000)
    index = path("bundle.index")
    files = parts_of(capture.path, ["profile"], 3, "--index", index)
    equal(Run("combine", *files, "profile").out, Run("profile", capture.path).out, "answer")
    check(not os.path.exists(os.path.join(capture.path, "index")), "no index in the bundle")
    part = ["--from", "50", "--until", "90"]
    equal(Run("decode", *part, "--index", index, capture.path).out, Run("decode", *part, capture.path).out, "--from")


def messages_of(stream):
    """The last byte of a message has MSEO 11."""
    with open(stream, "rb") as file:
        data = file.read()
    ends = [at + 1 for at, byte in enumerate(data) if byte & 3 == 3]
    return [data[begin:end] for begin, end in zip([0, *ends], ends)]


@case("decode --show count begins at the index, and says what it says without")
def counts_of_part():
    program = captures.Program(0, 0x10000)
    sources = [captures.Capture(NTRACE, scratch(), 3103 + src, program=program, length=3000,
                                options=["--mode", "btm", "--src-bits", "2", "--src-id", str(src)]) for src in range(3)]
    streams = [messages_of(os.path.join(capture.path, "trace.nex")) for capture in sources]
    with open(path("many.nex"), "wb") as file:
        for messages in itertools.zip_longest(*streams, fillvalue=b""):
            file.write(b"".join(messages))
    trace = [path("many.nex"), "-e", os.path.join(sources[0].path, "images", "program"), "--no-timestamps", "--src-bits", "2"]
    for part in (["--from", "400", "--until", "490"], ["--from", "@5000", "--until", "@6000"], ["--from", "700"], ["--src", "1", "--from", "500", "--until", "900"]):
        command = ["decode", "--show", "count", *part, *trace]
        whole = Run(*command)
        check(int(whole.lines()[0].split()[1]) > 50, whole.out)
        equal(Run(*command, "--index", path("many.index")).out, whole.out, f"{part}")
    check(os.path.getsize(path("many.index")) > 1000, "the index")


@case("--index replaces no file that is not an index; it expects a file of a trace, and a place to write to")
def index_refused():
    capture = captures.Capture(NTRACE, scratch(), 3102, length=2000, options=["--mode", "btm"])
    raw, options = raw_of(capture)
    with open(raw, "rb") as file:
        before = file.read()
    for name in (raw, options[1]):
        matches("expects an index, or a file that does not exist", Run("decode", "--from", "9", "--index", name, raw, *options, status=2).err, name)
    with open(raw, "rb") as file:
        equal(file.read(), before, "the stream")
    matches("cannot (open|read)", Run("decode", "--from", "9", "--index", scratch(), raw, *options, status=2).err, "a folder")
    matches("cannot write", Run("decode", "--from", "9", "--index", path("none/x"), raw, *options, status=2).err, "no folder")
    matches("--index: expected a file that does not grow, found a pipe or standard input; leave out --index", Run("decode", "--from", "9", "--index", path("x"), "-", *options, stdin=before, status=2).err, "standard input")
    matches("--index: expected a file that does not grow, found --follow; leave out --index", Run("decode", "--from", "9", "--index", path("x"), "--follow", raw, *options, status=2).err, "--follow")
    with open(path("empty.nex"), "wb"):
        pass
    empty = ["--index", path("empty.index"), path("empty.nex"), *options]
    matches("expected a trace, found an empty file$", Run("decode", "--from", "9", *empty, status=2).err.strip(), "an empty stream")
    matches("expected a trace, found an empty file$",
            Run("profile", "--partial", path("empty.part"), "--shard", "1/2", *empty, status=2).err.strip(), "a part of nothing")
    os.symlink(path("nowhere"), path("link"))
    Run("decode", "--from", "9", "--index", path("link"), raw, *options)
    check(os.path.isfile(path("link")) and not os.path.islink(path("link")), "a link to nothing is replaced")


@case("that functions have no symbols is said of the sum, not of each part")
def without_symbols():
    capture = captures.Capture(NTRACE, scratch(), 3001, length=4000)
    program = os.path.join(capture.path, "images", "program")
    with open(program, "rb") as file:
        image = bytearray(file.read())
    sections, size = ((0x28, 8), 0x3c) if image[4] == 2 else ((0x20, 4), 0x30)
    image[sections[0]:sum(sections)] = bytes(sections[1])  # e_shoff, then e_shnum and e_shstrndx
    image[size:size + 4] = bytes(4)
    with open(program, "wb") as file:
        file.write(image)
    files = []
    for part in (1, 2):
        files.append(path(f"stripped-{part}.part"))
        equal(Run("profile", "--partial", files[-1], "--shard", f"{part}/2", capture.path).err, "", f"part {part}")
    done = Run("combine", "--redo", *files, "profile")
    equal(done.err.count("instructions in functions without symbols"), 1, f"said of the sum: {done.err}")


@case("parts of several captures, grouped at random into files, are the sum of the captures")
def groups():
    chance = random.Random(3)
    command = ["profile", "--format", "csv"]
    made = [captures.Capture(NTRACE, scratch(), 4000 + i, length=2000, options=["--mode", "btm"]) for i in range(3)]
    sums = []
    for capture in made:
        sums.append(path(f"{os.path.basename(capture.path)}.sum"))
        Run(*command, "--partial", sums[-1], capture.path)
    expected = Run("combine", *sums, *command).out
    for number in range(4):
        files = [part for capture in made for part in parts_of(capture.path, command, 4)]
        chance.shuffle(files)
        while len(files) > 2:
            some = [files.pop() for _ in range(min(len(files), chance.randint(1, 4)))]
            name = path(f"group{number}-{len(files)}-{chance.random()}")
            Run("combine", "-o", name, *some)
            files.insert(chance.randrange(len(files) + 1), name)
        equal(Run("combine", *files, *command).out, expected, f"grouping {number}")


@case("a part that is missing or given twice is said; exit status 1 and 2")
def missing():
    capture = captures.Capture(NTRACE, scratch(), 5000, length=3000)
    files = parts_of(capture.path, ["profile"], 5)
    done = Run("combine", *files[:1], *files[2:4], "profile", status=1)
    matches("part 2 of 5 .*missing", done.err, "second")
    matches("part 5 of 5 .*missing", done.err, "last")
    equal(done.out, "", "no output")
    matches("part 3 of 5 .*given twice", Run("combine", *files, files[2], "profile", status=2).err, "twice")
    matches("part 2 of 5", Run("profile", files[1], status=2).err, "alone")
    matches("expected I/N", Run("profile", "--partial", path("no"), "--shard", "6/5", capture.path, status=2).err, "6/5")
    matches("--partial", Run("profile", "--shard", "1/5", capture.path, status=2).err, "no --partial")


@case("a part whose guess is wrong is said to be so, and decoded again by --redo")
def wrong():
    capture = captures.Capture(NTRACE, scratch(), 6000, length=4000, options=[])
    for command in (["profile", "--format", "csv"], ["profile", "--by", "instruction", "--format", "csv"]):
        expected = whole(capture.path, command)
        files = parts_of(capture.path, command, 4)
        with open(files[2], "rb") as file:
            data = file.read()
        at = data.index(b", state ") + 8
        changed = bytearray(data)
        changed[at] = ord("0") if changed[at] != ord("0") else ord("1")
        with open(files[2], "wb") as file:
            file.write(mended(bytes(changed)))
        matches("part 3 of 4 began with a wrong guess", Run("combine", *files, *command, status=1).err, "said")
        for index in ([], ["--index", path("redo.index")]):
            done = Run("combine", "--redo", *index, *files, *command)
            matches("decoded again", done.err, "said")
            equal(done.out, expected.out, "redone")
        check(os.path.getsize(path("redo.index")) > 100, "the index")
        os.unlink(path("redo.index"))
    matches("--index expects --redo", Run("combine", "--index", path("redo.index"), *files, *command, status=2).err, "no --redo")


@case("the gap of a first message that is damaged is not known to the part behind it")
def damaged_at_once():
    capture = captures.Capture(NTRACE, scratch(), 6001, length=100, options=["--mode", "btm"])
    # ProgTraceSync without FADDR, then what the capture 10003 of equality.py has: IndirectBranch, RepeatBranch, ProgTraceCorrelation
    with open(os.path.join(capture.path, "trace.nex"), "wb") as file:
        file.write(bytes.fromhex("2417 0000 2310 6103 7898 3f84 101b"))
    expected = whole(capture.path, ["decode", "--show", "event"])
    matches("message ends before this mandatory field", expected.out, "the gap")
    files = parts_of(capture.path, ["decode", "--show", "event"], 2)
    matches("part 2 of 2 began with a wrong guess", Run("combine", *files, "decode", "--show", "event", status=1).err, "said")
    equal(Run("combine", "--redo", *files, "decode", "--show", "event", status=1).out, expected.out, "redone")


def continuing(calls):
    """The first function ends with a call whose return continues in the second one, which was not called: its code is executed in the
    frame of the first. No synchronizing message, one of 33, is there: returns to the second function are one message of 21."""
    program = captures.Program(0, 0x10000)
    functions = [[("plain", 0), ("call", 3), ("call", 2)], [("plain", 0), ("call", 2)] * calls + [("ret", 0)], [("call", 3)] * 20 + [("ret", 0)],
                 [("plain", 0), ("ret", 0)]]
    program.code, program.entry, program.sizes = [], [], []
    for code in functions:
        program.entry.append(program.base + 4 * len(program.code))
        program.code += code
        program.sizes.append(4 * len(code))
    return program


@case("a part that is executed in a function that was not called is said to be so, and decoded again by --redo")
def wrong_stacks():
    capture = captures.Capture(NTRACE, scratch(), 7000, program=continuing(60), length=3600, options=[])
    for command in (["profile", "--format", "csv"], ["export", "--to", "callgrind"]):
        expected = whole(capture.path, command)
        files = parts_of(capture.path, command, 4)
        done = Run("combine", *files, *command, status=1)
        matches("part 2 of 4 began with a wrong guess: another function was called", done.err, "said")
        equal(done.out, "", "no output")
        random.Random(7).shuffle(files)
        done = Run("combine", "--redo", "--index", path("stacks.index"), *files, *command)
        matches("decoded again", done.err, "said")
        equal(done.out, expected.out, "redone")
        check(os.path.getsize(path("stacks.index")) > 100, "the index")
        os.unlink(path("stacks.index"))


def mix(value, word):
    value = (value ^ word) * 0x9fb21c651e98df25 & (1 << 64) - 1
    return value ^ value >> 29


def checksum(data):
    """ntr_partial_hash, from its description."""
    value = mix(0x9e3779b97f4a7c15, len(data))
    for at in range(0, len(data) // 8 * 8, 8):
        value = mix(value, int.from_bytes(data[at:at + 8], "little"))
    return mix(value, int.from_bytes(data[len(data) // 8 * 8:], "little"))


def mended(data):
    """The file with the right checksums."""
    out, at = data[:9], 9
    while at < len(data):
        size = 5 + int.from_bytes(data[at + 1:at + 5], "little")
        out += data[at:at + size] + checksum(data[at:at + size]).to_bytes(8, "little")
        at += size + 8
    return out


main()

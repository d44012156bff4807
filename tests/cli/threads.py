#!/usr/bin/env python3
"""decode -j: the output of many threads is that of one, in every form, for valid and damaged streams."""
import json
import os
import random
import re
import signal
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import tiny
from harness import NTRACE, ROOT, bytes_of, case, check, equal, main, need, scratch, until, write

MOVES = "".join(f"Ownership PROCESS={number << 5 | 2}\n{tiny.HTM}" for number in (7, 9))
CALM = tiny.HTM + tiny.BTM + tiny.TURNS
FORMS = [(output, form) for output in ("pc", "branch", "span", "event", "insn", "call", "none") for form in ("text", "jsonl", "csv")]


def stream(size, damage=0):
    """A stream in which contexts change sometimes, with `damage` damaged bytes."""
    calm, moves = bytes_of(CALM), bytes_of(MOVES)
    data = bytearray()
    while len(data) < size:
        data += calm * 200 + moves
    chance = random.Random(1)
    for _ in range(damage):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return bytes(data)


LOOP = ["DirectBranch ICNT=7", "IndirectBranch BTYPE=2 ICNT=2 UADDR=0"]
TURNS = {  # what a source may do between two iterations of the loop, and how often
    "on": ([], 40),
    "sync": (["ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80"], 3),
    "move": (["Ownership PROCESS=0x122"], 1),
    "stop": (["ProgTraceCorrelation EVCODE=0 CDF=0 ICNT=0", tiny.START.strip()], 1),
}
SOURCES = 3


def messages(lines, source, times):
    """The bytes of each line. Times are absolute in synchronizing messages, otherwise relative."""
    if times:
        lines = [line + f" TSTAMP={1000 * number if 'Sync' in line else 7}" for number, line in enumerate(lines)]
    lines = [line + f" SRC={source}" for line in lines]
    data = bytes_of("\n".join(lines) + "\n", "--src-bits", "2")
    ends = [at + 1 for at, byte in enumerate(data) if byte & 3 == 3]
    return [data[begin:end] for begin, end in zip([0, *ends], ends)]


def several(size, times=False, damage=0):
    """Sources in bursts, some of them long; a burst may begin in the middle of the flow of others."""
    chance, bursts, parts = random.Random(2), [], []
    for source in range(SOURCES):
        turns = chance.choices(list(TURNS), [often for _, often in TURNS.values()], k=300)
        lines = [tiny.START.strip()] + [line for turn in turns for line in LOOP + TURNS[turn][0]]
        parts.append(messages(lines, source, times))
    at = [0] * SOURCES
    while sum(map(len, bursts)) < size:
        source = chance.randrange(SOURCES)
        for _ in range(chance.choice((1, 3, 20, 400))):
            bursts.append(parts[source][at[source] % len(parts[source])])
            at[source] += 1
    data = bytearray(b"".join(bursts))
    for _ in range(damage):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return bytes(data)


def decode(jobs, trace, *options):
    command = [NTRACE, "decode", trace, "-e", write("program.elf", tiny.elf()), "-j", str(jobs), *options]
    done = subprocess.run(command, capture_output=True)
    done.stderr = done.stderr.decode(errors="replace")
    return done


def answer(jobs, trace, command, *options, elf=None):
    done = subprocess.run([NTRACE, *command.split(), trace, "-e", elf or write("program.elf", tiny.elf()), "-j", str(jobs), *options],
                          capture_output=True)
    done.stderr = done.stderr.decode(errors="replace")
    return done


def compare(trace, *options, run=decode):
    one, many = run(1, trace, *options), run(3, trace, *options)
    empty = not os.path.getsize(trace)
    check(one.returncode in ((2,) if empty else (0, 1)) and (one.stdout or "none" in options or os.path.getsize(trace) < 1000),
          f"{options}: no answer: {one.stderr[:300]}")
    equal(many.returncode, one.returncode, f"{options}: exit status")
    said = [line for line in many.stderr.splitlines() if "chunks were decoded serially" not in line]
    equal(said, one.stderr.splitlines(), f"{options}: standard error")
    check(many.stdout == one.stdout, f"{options}: other output")


def compare_all(trace, *options, forms=FORMS):
    for output, form in forms:
        compare(trace, "--show", output, "--format", form, *options)
    compare(trace, "--show", "count", *options)


for part, forms in {"every fifth form": FORMS[::5], "every form": FORMS}.items():
    @case(f"{part} of a valid stream", long=forms == FORMS)
    def good(forms=forms):
        trace = write("good.nex", stream(100000))
        equal(decode(1, trace, "--show", "none").stderr, "", "gaps")
        compare_all(trace, forms=forms)


for step in 4, 13:
    @case(f"one in {step} forms of a damaged stream", long=step == 4)
    def damaged(step=step):
        compare_all(write("damaged.nex", stream(50000, 20)), forms=FORMS[::step])


for step in 2, 4:
    @case(f"several sources, one in {step} forms", long=step == 2)
    def sources(step=step):
        compare_all(write("several.nex", several(50000)), "--src-bits", "2", "--no-timestamps", forms=FORMS[1::step])


@case("several sources in the order of time")
def times():
    trace = write("times.nex", several(100000, times=True))
    for output in ("pc", "span", "call"):
        compare(trace, "--show", output, "--src-bits", "2", "--timestamps")


@case("several sources, damaged", {3: ["pc"], 40: ["event"]})
@case("several sources, damaged, in more forms", {3: ["pc", "event"], 40: ["pc", "event"]}, long=True)
def several_damaged(outputs):
    for damage, chosen_outputs in outputs.items():
        trace = write("damaged.nex", several(100000, times=True, damage=damage))
        for output in chosen_outputs:
            compare(trace, "--show", output, "--src-bits", "2")
    compare(trace, "--src-bits", "2", "--src", "1")
    compare(trace, "--src-bits", "2", "--strict")


@case("several sources, counted")
def several_counted():
    for damage in (0, 10):
        compare(write("counted.nex", several(100000, damage=damage) * 4), "--show", "count", "--src-bits", "2")


def exports():
    """Every format of every command that exports."""
    for command in ("flame", "timeline", "export"):
        formats = subprocess.run([NTRACE, command, "--to", "list"], capture_output=True, text=True).stdout
        check(formats, f"{command}: no formats")
        yield from (f"{command} --to={line.split()[0]}" for line in formats.splitlines())


def compare_answers(trace, commands, *options, elf=None):
    known = list(exports())
    for command in commands:
        if command.endswith(("sqlite", "perf.data", "ctf")):
            continue  # written to a file or folder
        if command.startswith(("flame --to", "timeline --to", "export --to")) and command not in known:
            continue  # a format that this build does not have
        one = answer(1, trace, command, *options, elf=elf)
        check(one.returncode in (0, 1) and (one.stdout or "--to" in command) or "expected one hart" in one.stderr, f"{command}: no answer: {one.stderr[:300]}")
        for jobs in (2, 3) if os.environ.get("NTRACE_TEST_LONG") else (2 + commands.index(command) % 2,):
            many = answer(jobs, trace, command, *options, elf=elf)
            equal((many.returncode, many.stderr), (one.returncode, one.stderr), f"{command} -j {jobs}: status and messages")
            check(many.stdout == one.stdout, f"{command} -j {jobs}: other output")


PROFILES = ["profile", "profile --by=image", "profile --by=hart", "profile --by=line", "profile --by=context",
            "profile --by=instruction --format=csv", "profile --annotate", "profile --callers=left --callees=start", "report",
            "coverage --to=json", "coverage --level=object"]


@case("half of the analyses of one source, with joined spans", 2)
@case("every analysis of one source, with joined spans", 1, long=True)
def answers(step):
    """Calls have no returns here: stacks as text would be 500 MB."""
    short = [export for export in exports() if not export.endswith(("folded", "speedscope"))]
    compare_answers(write("calm.nex", stream(50000)), [*PROFILES, *short][::step], "--no-timestamps")


for share in 20, 1:
    @case(f"{'every' if share == 1 else 'each twentieth'} analysis of several sources, damaged", long=share == 1)
    def several_answers(share=share):
        compare_answers(write("order.nex", several(50000, damage=2)), [*PROFILES, *exports()][::share], "--src-bits", "2", "--no-timestamps")


@case("sums of several sources, damaged")
def several_sums():
    counted = write("sums.nex", several(50000, damage=2) * 2)
    compare_answers(counted, ["profile --by=instruction --format=csv", "coverage --to=json", "export --to=drcov"],
                    "--src-bits", "2", "--no-timestamps")


@case("half of the analyses of a trace with timestamps", 2)
@case("analyses of a trace with timestamps", 1, long=True)
def timed_answers(step):
    order = write("order.nex", several(100000, times=True, damage=2))
    compare_answers(order, ["profile", "profile --by=hart", "flame --to=folded", "timeline --to=perfetto", "export --to=calltree",
                            "report"][1::step] + ["profile"] * (step == 1), "--src-bits", "2", "--timestamps")


for share in 3, 1:
    @case(f"{'every kind' if share == 1 else 'a third of the kinds'} of answer about streams of real programs", long=share == 1)
    def real_answers(share=share):
        need("zstd")
        folder = os.path.join(ROOT, "bench", "real_streams")
        with open(os.path.join(folder, "streams.json"), encoding="ascii") as file:
            streams = json.load(file)
        commands = ["profile", "profile --by=line --format=csv", "flame --to=folded", "timeline --to=perfetto", "report",
                    "export --to=callgrind", "coverage --level=object", "decode --show=span", "decode --show=call", "decode --show=count"]
        for number, name in enumerate(("cc1", "node", "go")):
            elf, nex = (write(f"{name}.{kind}", subprocess.run(["zstd", "-dcq", os.path.join(folder, f"{name}.{kind}.zst")], check=True,
                                                               capture_output=True).stdout) for kind in ("elf", "nex"))
            compare_answers(nex, commands[number % share::share], *streams[name]["options"], elf=elf)


@case("a stream that starts in the middle of a message")
def middle():
    for cut in (1, 2, 5):
        compare(write("middle.nex", stream(100000)[cut:]), "--mid-stream")


@case("--strict ends at the first defect")
def strict():
    compare(write("strict.nex", stream(100000, 3)), "--strict")
    compare(write("strict.nex", stream(100000, 3)), "--strict", "--show", "count")


@case("streams that cannot be cut")
def small():
    for size in (0, 1, 300):
        compare(write("small.nex", stream(size)[:size]))
        compare(write("small.nex", stream(size)[:size]), "--show", "count")


@case("the reason why many threads do not help is printed")
def why():
    long = bytes_of(tiny.START) + bytes_of("Ownership PROCESS=0x3b2\n") * 1000000
    done = decode(2, write("long.nex", long), "--show", "none")
    check("they contain no synchronizing message" in done.stderr, done.stderr)
    done = decode(2, write("good.nex", bytes_of(tiny.HTM) * 300000), "--show", "none")
    equal(done.stderr.count("pieces"), 0, "notes")
    turns = bytes_of("\n".join(LOOP * 50 + TURNS["sync"][0]) + "\n")
    done = decode(2, write("turns.nex", bytes_of(tiny.START) + turns * 20000), "--show", "none")
    equal(done.stderr, "", "notes of long runs of plain messages")


@case("several sources that synchronize sometimes are decoded in parallel")
def ahead():
    turns = [messages([tiny.START.strip(), *LOOP * 20], source, False) for source in range(SOURCES)]
    data = b"".join(b"".join(turn) for turn in turns) * 2000
    for threads in (2, 3):
        done = decode(threads, write("ahead.nex", data), "--src-bits", "2", "--show", "none")
        equal(done.stderr, "", "notes")


def threads_of(trace, *command):
    """Number of threads of the command, which waits for a reader of its output."""
    done = subprocess.Popen([NTRACE, *command, trace, "-e", write("program.elf", tiny.elf())], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL)
    check(done.stdout.read(1), "output")
    number = len(os.listdir(f"/proc/{done.pid}/task"))
    done.kill()
    done.communicate()
    return number


@case("without --jobs there are several threads only where they gain")
def chosen():
    processors = len(os.sched_getaffinity(0))
    many = processors + 1 if processors > 2 else 1  # the processors, and the thread that reads; two do not gain with text
    loops = "\n".join(LOOP * 5000)
    plain, sync = bytes_of(loops + "\n"), bytes_of("\n".join(TURNS["sync"][0]) + "\n")
    start = bytes_of(tiny.START)
    regular = write("regular.nex", start + (plain + sync) * 100)
    late = write("late.nex", start + (plain + sync) * 3 + plain * 20 + (plain + sync) * 80)
    small = write("small.nex", start + (plain + sync) * 4)
    check(os.path.getsize(regular) > 2 << 20 > os.path.getsize(small) * 8, "sizes")
    for trace, output, number in ((regular, "span", many), (regular, "pc", many), (regular, "call", 1), (late, "span", 1),
                                  (small, "span", 1)):
        equal(threads_of(trace, "decode", "--show", output), number, f"{trace} --show {output}: threads")


@case("worker threads leave SIGINT to the main thread, and have the handler of SIGBUS: a mapped file may be truncated")
def _():
    fifo, elf = os.path.join(scratch(), "fifo"), write("threads.elf", tiny.elf())
    os.mkfifo(fifo)
    with subprocess.Popen([NTRACE, "profile", "-j", "2", "-e", elf, fifo], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        with open(fifo, "wb") as end:
            end.write(bytes_of(tiny.TURNS * 2000))
            end.flush()
            tasks = f"/proc/{child.pid}/task"
            until(lambda: len(os.listdir(tasks)) == 3, "two workers")
            for task in sorted(os.listdir(tasks), key=int)[1:]:
                with open(f"{tasks}/{task}/status", encoding="ascii") as file:
                    blocked = int(re.search(r"SigBlk:\s+(\w+)", file.read())[1], 16)
                equal([blocked >> number - 1 & 1 for number in (signal.SIGINT, signal.SIGBUS, signal.SIGSEGV)], [1, 0, 0], "blocked signals")
    equal(child.returncode, 0, "status")


main()

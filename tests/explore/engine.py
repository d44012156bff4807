#!/usr/bin/env python3
"""The questions of ntrace explore. The truth is the list of program counters of ntrace decode, which other tests compare with
QEMU's own log, the symbol table as nm prints it, and the bytes of the stream.

usage: engine.py NTRACE
"""
import bisect
import collections
import functools
import json
import os
import random
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import ROOT, Run, case, check, equal, main, matches, need, scratch, skip, write
from story import SOURCE, ask, bundle, called, damaged, names, program, traced


@functools.cache
def executed():
    """The addresses of all executed instructions."""
    return [int(line, 16) for line in Run("decode", bundle(), "--output", "pc").lines()]


@functools.cache
def symbols():
    """{name: (begin, end)} of the functions whose name no other one has."""
    listed = subprocess.run([need("riscv64-linux-gnu-nm"), "-S", program()], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in listed.splitlines()]
    rows = [row for row in rows if len(row) == 4 and row[2] in "tT"]
    times = collections.Counter(row[3] for row in rows)
    return {row[3]: (int(row[0], 16), int(row[0], 16) + int(row[1], 16)) for row in rows if times[row[3]] == 1}


def executed_in(name, first=0, last=None):
    begin, end = symbols()[name]
    return sum(begin <= address < end for address in executed()[first:last])


def entries(name):
    """The positions at which a function was entered: it has no jump to its first instruction."""
    begin = symbols()[name][0]
    return [position for position, address in enumerate(executed()) if address == begin]


@case("the instructions at a position are those that were executed there")
def at():
    addresses = executed()
    places = random.Random(1).sample(range(len(addresses)), 40) + [0, len(addresses) - 1]
    for place, answer in zip(places, ask(bundle(), *({"query": "at", "position": p, "before": 7, "after": 9} for p in places))):
        rows = answer["instructions"]
        equal([row["position"] for row in rows], list(range(max(0, place - 7), min(len(addresses), place + 9))), f"positions around {place}")
        equal([int(row["address"], 16) for row in rows], [addresses[row["position"]] for row in rows], f"addresses around {place}")
        equal(int(answer["hart"]["address"], 16), addresses[place], "address of the hart")


@case("instructions and calls of functions, in the whole trace and in parts of it")
def functions():
    size = len(executed())
    ranges = [(0, size), (0, size // 3), (size // 3, size - 1000), (size - 1000, size)]
    for (first, last), answer in zip(ranges, ask(bundle(), *({"query": "functions", "from": a, "to": b, "limit": 1000} for a, b in ranges))):
        found = {names(answer)[row["function"]]: row for row in answer["rows"]}
        equal(sum(row["self"] for row in answer["rows"]), last - first, "instructions of all functions")
        for name in ("sum_of", "fall", "compare", "arrange", "work", "main"):
            equal(found.get(name, {"self": 0})["self"], executed_in(name, first, last), f"instructions of {name} in {first} to {last}")
            calls = sum(first <= position < last for position in entries(name))
            equal(found.get(name, {"calls": 0})["calls"], calls, f"calls of {name} in {first} to {last}")


@functools.cache
def lines_of():
    """{address: (file, line)} of all executed addresses, as addr2line prints them: the innermost of inlined functions."""
    addresses = sorted(set(executed()))
    listed = subprocess.run([need("riscv64-linux-gnu-addr2line"), "-e", program()], input="\n".join(map(hex, addresses)), capture_output=True, text=True,
                            check=True).stdout.splitlines()
    pairs = [line.split(" (")[0].rsplit(":", 1) for line in listed]
    return {address: (file, int(line) if line.isdigit() else 0) for address, (file, line) in zip(addresses, pairs)}


@case("the instructions of each source line, in the whole trace and in parts of it; lines that were not executed")
def lines():
    size = len(executed())
    ranges = [(0, size), (size // 3, size // 3 + 777), (size // 2, size - 3)]
    listed = subprocess.run([need("riscv64-linux-gnu-objdump"), "--dwarf=decodedline", program()], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in listed.splitlines() if line.startswith("story.c ")]
    with_code = {int(row[1]) for row, after in zip(rows, rows[1:]) if row[2] != after[2]}
    for first, last in ranges:
        truth = collections.Counter(lines_of()[address] for address in executed()[first:last])
        known = sum(count for (file, line), count in truth.items() if line)
        hot, file, function = ask(bundle(), *({"query": "lines", "from": first, "to": last, **more} for more in ({}, {"file": SOURCE}, {"function": "sum_of"})))
        equal((hot["from"], hot["to"], hot["unknown"]), (first, last, last - first - known), "range, and instructions without a line")
        equal({(row["file"], row["line"]): row["instructions"] for row in hot["rows"]}, {place: count for place, count in truth.items() if place[1]}, "hot lines")
        check(all(a["instructions"] >= b["instructions"] for a, b in zip(hot["rows"], hot["rows"][1:])), "the line with the most is the first")
        equal({row["line"]: row["instructions"] for row in file["rows"] if row["instructions"]}, {line: count for (name, line), count in truth.items() if name == SOURCE}, "lines of the file")
        equal({row["line"] for row in file["rows"]}, with_code, "lines with code")
        inside = collections.Counter(lines_of()[address][1] for address in executed()[first:last] if symbols()["sum_of"][0] <= address < symbols()["sum_of"][1])
        equal({row["line"]: row["instructions"] for row in function["rows"]}, dict(inside), "lines of a function")
    start, unused = ask(bundle(), {"query": "lines", "from": 0, "to": 3, "file": SOURCE}, {"query": "lines", "from": 0, "to": 3, "function": "sum_of"})
    equal({row["line"]: row["instructions"] for row in start["rows"]}, dict.fromkeys(with_code, 0), "lines of a file, none of them executed")
    equal(unused["rows"], [], "lines of a function that was not executed")
    for more, error in ({"file": "no such file.c"}, "file: no debug information has lines of this path"), ({"function": "no_such_function"}, "function: no function has this name"):
        equal(ask(bundle(), {"query": "lines", **more}, status=2)[0].get("error"), error, json.dumps(more))


OVERLOADED = """
namespace shape {
__attribute__((noinline)) int area(int a) { int s = 0; for (int i = 0; i < a; i++) s += i ^ 3; return s; }
__attribute__((noinline)) int area(int a, int b) { int s = 1; for (int i = 0; i < a; i++) s *= b + i; return s; }
}
extern "C" { static __attribute__((noinline)) int helper(int x) { asm volatile(""); return x + 1; } int other(int); }
static volatile int sum;
int main(int c, char **) { sum = shape::area(c + 9) + shape::area(c + 4, 3) + helper(c) + other(c); return 0; }
"""
NAMESAKE = "static __attribute__((noinline)) int helper(int x) { asm volatile(\"nop\"); return x + 2; }\nint other(int x) { return helper(x) + helper(x); }\n"


@case("a name without parameters means all overloads, and a name of several static functions all of them: lines, and executions")
def overloads():
    path = os.path.join(scratch(), "over")
    write("over.cc", OVERLOADED.encode())
    write("over2.c", NAMESAKE.encode())
    for words in (["riscv64-linux-gnu-gcc", "-c", "over2.c"], ["riscv64-linux-gnu-g++", "over.cc", "over2.o", "-o", path]):
        subprocess.run([need(words[0]), "-g", "-O1", "-static", *words[1:]], check=True, cwd=scratch())
    trace = path + ".ntrace"
    Run("run", "-q", "-o", trace, "--", path)
    pcs = [int(line, 16) for line in Run("decode", trace, "--show", "pc").lines()]
    listed = subprocess.run([need("riscv64-linux-gnu-nm"), "-S", path], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in listed.splitlines()]
    for asked, symbols_of, functions_of in (("area", "_ZN5shape4areaE", 2), ("shape::area", "_ZN5shape4areaE", 2), ("shape::area(int)", "_ZN5shape4areaEi ", 1),
                                            ("helper", "helper ", 2), ("main", "main ", 1)):
        spans = [(int(row[0], 16), int(row[0], 16) + int(row[1], 16)) for row in rows if len(row) == 4 and (row[3] + " ").startswith(symbols_of)]
        equal(len(spans), functions_of, f"functions {asked}")
        inside = sum(low <= pc < high for pc in pcs for low, high in spans)
        answer, = ask(trace, {"query": "lines", "function": asked})
        equal(sum(row["instructions"] for row in answer["rows"]) + answer["unknown"], inside, f"instructions of {asked}")
        wanted = [position for position, pc in enumerate(pcs) if pc in {low for low, _ in spans}]
        seen, position = [], 0
        while len(seen) <= len(wanted) and (found := ask(trace, {"query": "find", "text": asked, "position": position})[0])["found"]:
            position = found["position"]
            seen.append(position)
        equal(seen, [place for place in wanted if place], f"executions of {asked}")


@case("a range that is too long for the lines is cut to a part around the position, which the answer names")
def lines_cut():
    trace = traced(program("-DROUNDS=300"), "longer")
    about, = ask(trace, {"query": "about"})
    whole, most = about["instructions"], 2 << 20
    check(whole > most, whole)
    places = {0: (0, most), whole // 2: (whole // 2 - most // 2, whole // 2 + most // 2), whole: (whole - most, whole)}
    for (place, (first, last)), answer in zip(places.items(), ask(trace, *({"query": "lines", "position": place, "limit": 4000} for place in places))):
        equal((answer["from"], answer["to"]), (first, last), f"around {place}")
        equal(sum(row["instructions"] for row in answer["rows"]) + answer["unknown"], most, "instructions")


@case("ranges that are longer than what one question walks over, with ends anywhere: the sum of short ranges, and what profile counts")
def long_ranges():
    trace = traced(program("-DROUNDS=300"), "longer")
    about, = ask(trace, {"query": "about"})
    size = about["instructions"]
    bounds = [(0, size), (4321, size - 1234), (777777, size)]
    step = 1500000
    for (first, last), whole in zip(bounds, ask(trace, *({"query": "functions", "from": a, "to": b, "limit": 4000} for a, b in bounds))):
        check(last - first > 2 << 20, "a long range")
        equal((whole["from"], whole["to"]), (first, last), "range")
        parts = collections.Counter()
        cuts = [*range(first, last, step), last]
        for part in ask(trace, *({"query": "functions", "from": a, "to": b, "limit": 4000} for a, b in zip(cuts, cuts[1:]))):
            for row in part["rows"]:
                parts[names(part)[row["function"]], "self"] += row["self"]
                parts[names(part)[row["function"]], "calls"] += row["calls"]
        found = {(names(whole)[row["function"]], key): row[key] for row in whole["rows"] for key in ("self", "calls") if row[key]}
        equal(found, dict(+parts), f"functions of {first} to {last}")
    profile = {row["function"]: (row["self"], row["total"]) for row in Run("profile", trace, "--format", "jsonl").rows()}
    whole, = ask(trace, {"query": "functions", "limit": 4000})
    equal({names(whole)[row["function"]]: (row["self"], row["total"]) for row in whole["rows"]}, profile, "profile")


@case("system calls by name: times, and instructions of them and what they called; wrappers are one")
def syscalls():
    stream, options = called()
    answer, = ask(stream, {"query": "syscalls"}, options=options)
    equal([(row["name"], row["times"], row["instructions"]) for row in answer["rows"]], [("read", 12, 60), ("write", 5, 25)], "system calls")
    size = 36 + 1 + 5 + 1  # instructions from one system call to the next
    part, = ask(stream, {"query": "syscalls", "from": 10 * size, "to": 14 * size}, options=options)
    equal([(row["name"], row["times"], row["instructions"]) for row in part["rows"]], [("read", 2, 10), ("write", 2, 10)], "in a part")
    equal(ask(bundle(), {"query": "syscalls"})[0]["rows"], [], "a program alone has none")
    found, nowhere = {"query": "find", "text": "syscall:write"}, {"query": "find", "text": "syscall:open"}
    first, = ask(stream, found, options=options)
    around, second = ask(stream, {"query": "at", "position": first["position"], "before": 0, "after": 1}, {**found, "position": first["position"]}, options=options)
    equal(around["instructions"][0]["in"], "__riscv_sys_write", "where it begins")
    equal(second["position"] - first["position"], size, "the next one")
    equal(ask(stream, nowhere, status=2, options=options)[0]["error"], "text: no function, address, line or system call has this name", "one that was not called")


@case("the call tree: each node has its instructions, and what it called")
def tree():
    answer, = ask(bundle(), {"query": "tree", "least": 0, "limit": 4000})
    stack, total = [], collections.Counter()
    for node in answer["tree"]:
        del stack[node["depth"]:]
        stack.append(node)
        total[node["depth"]] += 0
        node["children"] = 0
        if len(stack) > 1:
            stack[-2]["children"] += node["total"]
    for node in answer["tree"]:
        equal(node["total"], node["self"] + node["children"], "total of a node")
    equal(answer["tree"][0]["total"], len(executed()), "instructions of the hart")
    paths = [names(answer)[node["function"]] for node in answer["tree"] if "function" in node]
    check(paths.index("main") < paths.index("work") < paths.index("arrange") < paths.index("compare"), "main calls work calls arrange ...")
    equal(max(node["depth"] for node in answer["tree"] if "function" in node and names(answer)[node["function"]] == "fall")
          - min(node["depth"] for node in answer["tree"] if "function" in node and names(answer)[node["function"]] == "fall"), 30, "depth of fall")


@case("slices begin where the function was entered and end after its last instruction")
def slices():
    answer, = ask(bundle(), {"query": "slices", "least": 0, "limit": 4000})
    found = [s for s in answer["slices"] if names(answer)[s["function"]] == "work"]
    first = entries("work")[0]
    inside = max(p for p, address in enumerate(executed()) if symbols()["work"][0] <= address < symbols()["work"][1])
    equal([(s["begin"], s["end"]) for s in found], [(first, inside + 1)], "work")
    begins = [s["begin"] for s in answer["slices"] if names(answer)[s["function"]] == "arrange"]
    equal(begins, entries("arrange"), "arrange")
    part, = ask(bundle(), {"query": "slices", "from": first + 100, "to": first + 2000, "least": 0, "limit": 4000})
    whole = {(s["begin"], s["end"], names(answer)[s["function"]]) for s in answer["slices"]}
    inside = [(s["begin"], s["end"], names(part)[s["function"]]) for s in part["slices"] if not s.get("cut_begin") and not s.get("cut_end")]
    check(len(inside) > 3 and all(s in whole for s in inside if answer["least"] <= s[1] - s[0]), "slices of a part are those of the whole")


@case("columns of an overview add up, whatever their number")
def overview():
    for answer in ask(bundle(), *({"query": "overview", "columns": n} for n in (1, 7, 400)), {"query": "overview", "from": 1000, "to": 9000}):
        hart, = answer["harts"]
        bounds = answer["bounds"]
        equal(len(hart["instructions"]), len(bounds) - 1, "columns")
        equal(hart["instructions"], [b - a for a, b in zip(bounds, bounds[1:])], "instructions of the only hart")
        for i in random.Random(2).sample(range(len(bounds) - 1), min(5, len(bounds) - 1)):
            name = names(answer)[hart["function"][i]]
            if name in symbols():
                equal(hart["most"][i], executed_in(name, bounds[i], bounds[i + 1]), f"instructions of {name} in a column")


@case("next and previous execution of a function, an address and a line")
def find():
    places = entries("sum_of")
    address = symbols()["sum_of"][0]
    middle = places[7] + 3
    questions = [{"query": "find", "text": text, "position": middle, "direction": direction}
                 for text in ("sum_of", hex(address)) for direction in ("next", "previous")]
    questions += [{"query": "find", "text": "sum_of", "position": places[7], "direction": direction} for direction in ("next", "previous")]
    found = [answer["position"] for answer in ask(bundle(), *questions)]
    equal(found, [places[8], places[7], places[8], places[7], places[8], places[6]], "positions")
    missing, = ask(bundle(), {"query": "find", "text": "sum_of", "position": places[-1] + 1})
    equal(missing["found"], False, "after the last one")
    names = write("first.map", f"{executed()[0]:x} 4 made_first\n{address:x} 4 made_sum\n".encode())
    first = [{"query": "find", "text": text, **place} for text in ("_start", "made_first") for place in ({}, {"position": 0})]
    found = ask(bundle(), *first, {"query": "find", "text": "made_sum"}, options=["--perf-map", names])
    equal([answer.get("position") for answer in found], [0, None, 0, None, places[0]], "the first instruction, by its names; after the place of the user it is not there again")
    total = len(executed())
    half, message = ask(bundle(), {"query": "find", "text": "50%"}, {"query": "find", "text": "#1"})
    equal((half["position"], message["position"]), (total // 100 * 50 + total % 100 * 50 // 100, 0), "numbers")


@case("two harts: parts add up, and each hart has its own instructions")
def harts():
    path = os.path.join(scratch(), "threads")
    subprocess.run([need("riscv64-linux-gnu-gcc"), "-g", "-O1", "-static", "-pthread", "-o", path, os.path.join(ROOT, "tests", "gdb", "threads.c")], check=True)
    trace = traced(path, "threads", "--timestamps")
    about, whole = ask(trace, {"query": "about"}, {"query": "functions", "limit": 4000})
    total = about["instructions"]
    cuts = sorted(random.Random(3).sample(range(total), 4))
    sums = collections.Counter()
    for part in ask(trace, *({"query": "functions", "from": a, "to": b, "limit": 4000} for a, b in zip([0, *cuts], [*cuts, total]))):
        for row in part["rows"]:
            sums[names(part)[row["function"]]] += row["self"] + (row["calls"] << 40)
    equal(sums, collections.Counter({names(whole)[row["function"]]: row["self"] + (row["calls"] << 40) for row in whole["rows"]}), "sums of parts")
    for hart in about["harts"]:
        listed = [int(line, 16) for line in Run("decode", trace, "--show", "pc", "--src", str(hart["src"])).lines()]
        equal(hart["instructions"], len(listed), "instructions of a hart")
        for answer in ask(trace, *({"query": "at", "position": p, "src": hart["src"], "before": 2, "after": 2} for p in random.Random(4).sample(range(total), 8))):
            number = answer["hart"]["number"]
            expected = listed[max(0, number - 2):number + 2]
            equal([int(row["address"], 16) for row in answer["instructions"]], expected if number < len(listed) else listed[-2:], f"around {answer['position']}")


@case("messages have the bytes of the stream")
def messages():
    path = bundle("--no-compress")
    with open(os.path.join(path, "trace.nex"), "rb") as file:
        stream = file.read()
    for answer in ask(path, *({"query": "messages", "position": p, "before": 3, "after": 4} for p in (0, 5000, len(executed()) - 1))):
        rows = answer["messages"]
        check(rows and sum(bool(row.get("here")) for row in rows) == 1, "one message is that of the position")
        for row, after in zip(rows, rows[1:]):
            equal((row["number"] + 1, row["offset"] + row["size"]), (after["number"], after["offset"]), "the next message")
        for row in rows:
            equal("".join(byte["value"] for byte in row["bytes"]), stream[row["offset"]:row["offset"] + row["size"]][:64].hex(), "bytes")


@case("answers are the same in any order of the questions, and fit the schema")
def deterministic():
    if subprocess.run(["/usr/bin/python3", "-c", "import jsonschema"], stderr=subprocess.DEVNULL, check=False).returncode:
        skip("python-jsonschema")
    questions = [{"query": "overview"}, {"query": "slices"}, {"query": "tree"}, {"query": "functions", "sort": "total"}, {"query": "at", "position": 3000},
                 {"query": "messages", "position": 3000}, {"query": "find", "text": "main"}, {"query": "names", "text": "so"}, {"query": "gaps"},
                 {"query": "about"}, {"query": "lines"}, {"query": "lines", "file": SOURCE}, {"query": "syscalls"}, {"query": "source", "file": os.path.join(ROOT, "tests/explore/story.c"), "first": 3, "count": 2}]
    one = ask(bundle(), *questions)
    other = ask(bundle(), *reversed(questions))[::-1]
    for question, a, b in zip(questions, one, other):
        equal(a, b, question["query"])
    schema = os.path.join(ROOT, "docs", "schemas", "explore.schema.json")
    text = ("import json, jsonschema, sys\nschema, answers = (json.load(open(name)) for name in sys.argv[1:3])\n"
            "jsonschema.Draft202012Validator.check_schema(schema)\n"
            "for answer in answers: jsonschema.Draft202012Validator(schema).validate(answer)")
    subprocess.run(["/usr/bin/python3", "-c", text, schema, write("answers.json", json.dumps(one).encode())], check=True, cwd=scratch())


@case("the messages before and after a position, as many as asked for; lines of a source from the first that is asked for")
def around():
    numbers = [json.loads(line)["number"] for line in Run("dump", bundle(), "--format", "jsonl").lines()]
    for before, after in ((3, 2), (0, 1), (5, 7)):
        answer, = ask(bundle(), {"query": "messages", "position": 5000, "before": before, "after": after})
        found = [row["number"] for row in answer["messages"]]
        first = numbers.index(found[0])
        equal(found, numbers[first:first + len(found)], "messages in their order")
        least, = ask(bundle(), {"query": "messages", "position": 5000, "before": 0, "after": 1})
        here = least["messages"][0]["number"]
        check(sum(number >= here for number in found) == after and before <= sum(number < here for number in found), f"{found}, {before} before {here}, {after} from there")
    path = os.path.join(ROOT, "tests/explore/story.c")
    text = open(path, encoding="utf-8").read().splitlines()
    for first, count in ((1, 3), (7, 2)):
        answer, = ask(bundle(), {"query": "source", "file": path, "first": first, "count": count})
        equal((answer["found"], answer["text"], answer["lines"]), (True, text[first - 1:first - 1 + count], len(text)), f"lines from {first}")


@case("questions that cannot be answered: status 2, and a sentence")
def errors():
    for question, sentence in (("{", "expected JSON"), ("[]", "object"), ('{"query":"nosuch"}', "no such question"),
                               ('{"query":"at","position":-1}', "position: expected a number"), ('{"query":"at","src":9}', "src: hart 9"),
                               ('{"query":"find"}', "text: expected"), ('{"query":"find","text":"nosuch"}', "no function"),
                               ('{"query":"overview","columns":0}', "columns: expected a number from 1"),
                               ('{"query":"functions","too":5}', "too: 'functions' has no such argument; expected from to sort limit"),
                               ('{"query":"about","from":5}', "from: 'about' has no such argument; expected none"),
                               ('{"query":"functions","from":99999999999}', "from: expected a number from 0 to "),
                               ('{"query":"functions","from":6,"to":5}', "to: expected a number from 6, found 5"),
                               ('{"query":"functions","sort":"x"}', "sort: expected"), ('{"a":1,"a":2}', "duplicate")):
        answer, = ask(bundle(), question, status=2)
        matches(sentence, answer["error"], question)


@case("a gap has its place and its reason")
def gaps():
    stream, options = damaged()
    middle = os.path.getsize(stream) // 2
    listed = Run("decode", stream, *options, "--output", "pc", status=1).lines()
    answer, near, behind = ask(stream, {"query": "gaps"}, {"query": "find", "text": "gap"}, {"query": "gaps", "from": len(listed)}, options=options, status=1)
    matches(r"message #\d+: gap: ", Run("explore", stream, *options, "--ask", '{"query":"functions"}', status=1).err, "what is said of every answer")
    check(answer["gaps"], "there is a gap")
    first = answer["gaps"][0]
    check(first["reason"] and first["offset"] <= middle + 40, "reason and offset")
    equal(near["position"], first["position"], "the next gap")
    equal(behind["gaps"], [gap for gap in answer["gaps"] if gap["position"] >= len(listed)], "gaps of a part")
    equal(answer["progress"]["known"], len(listed), "instructions")
    check(bisect.bisect([gap["position"] for gap in answer["gaps"]], len(listed)) == len(answer["gaps"]), "positions are in the trace")


main()

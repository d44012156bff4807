"""Lines and functions as llvm-cov counts them, and the rules by which `ntrace coverage` may count a line otherwise
(docs/coverage-rules.md, "Lines of clang")."""
import os
import re

from gcov_truth import Coverage

INSTRUMENT = ("-fprofile-instr-generate", "-fcoverage-mapping")


def read_lcov(info, selected=lambda path: not path.startswith("/usr")):
    """Reads what `llvm-cov export -format=lcov` has written. Static functions have the name of their file before their own."""
    found = Coverage()
    for record in info.split("end_of_record"):
        path = re.search(r"^SF:(.*)$", record, re.M)
        if not path or not selected(path[1]):
            continue
        name = os.path.basename(path[1])
        for line, count in re.findall(r"^DA:(\d+),(\d+)", record, re.M):
            found.lines[name, int(line)] = found.lines.get((name, int(line)), 0) + int(count)
        for line, function in re.findall(r"^FN:(\d+),(.*)$", record, re.M):
            found.heads.add((name, int(line)))
        for count, function in re.findall(r"^FNDA:(\d+),(.*)$", record, re.M):
            linkage = re.split("[;:]", function)[-1]
            found.functions[linkage] = found.functions.get(linkage, 0) + int(count)
    return found


def read_regions(found, document):
    """Adds what llvm-cov knows of its regions: lines on which macros are expanded, lines that begin in a gap between statements, and the
    columns at which regions go on that other ones have interrupted."""
    found.macros, found.gaps, found.resumed = set(), set(), {}
    for file in document["data"][0]["files"]:
        name, segments = os.path.basename(file["filename"]), file["segments"]
        for expansion in file["expansions"]:
            first, _, last = expansion["source_region"][:3]
            found.macros.update((name, line) for line in range(first, last + 1))
        entered = {segment[0] for segment in segments if segment[3] and segment[4] and not segment[5]}
        for segment, after in zip(segments, segments[1:]):
            if segment[5]:
                found.gaps.update((name, line) for line in range(segment[0] + 1, after[0] + 1) if line not in entered)
            if after[0] > segment[0] and not after[4] and segment[2] != after[2]:
                found.resumed[name, after[0]] = after[1]


def read_functions(found, document, lines):
    """Adds the lines that have code, and which functions of a trace exceptions or longjmp have left: by their lines in each file, and by name."""
    found.left, found.left_names, found.code = {}, set(), set(lines)
    for file in document["files"]:
        functions = [(function["lineno"], function["returned_count"] < function["execution_count"], function["name"]) for function in file["functions"]]
        found.left[os.path.basename(file["file"])] = sorted(functions)
        found.left_names.update(re.sub(r"\(.*", "", name).split("::")[-1] for _, left, name in functions if left)


def is_left(text_of, found, key):
    """Whether a call before a line, in the same function, has thrown or has not returned."""
    before = [(line, left) for line, left, _ in found.left.get(key[0], ()) if line <= key[1]]
    if not before:
        return False
    text = " ".join(text_of((key[0], at)) for at in range(max(before[-1][0] + 1, key[1] - 200), key[1]))
    return before[-1][1] or not found.left_names.isdisjoint(re.findall(r"(\w+) ?\(", text))


def has_macro(text_of, found, key):
    """Whether a line has a macro with arguments, or is in one."""
    defined = text_of.defined if hasattr(text_of, "defined") else frozenset()
    return key in found.macros or not defined.isdisjoint(re.findall(r"(\w+) ?\(", text_of(key)))


def is_gap(text, found, key):
    """Whether a line begins in a gap, or the region around the statement goes on with its first token."""
    return key in found.gaps or found.resumed.get(key) == len(text) - len(text.lstrip()) + 1


def reason(text_of, found, key):
    """The rule by which llvm-cov may count a line otherwise, or None."""
    file, number = key
    line = text_of(key).strip()
    if "assert(" in line or (line == "}" and any("assert(" in text_of((file, number - at)) for at in (1, 2))):
        return "assert"
    if has_macro(text_of, found, key):
        return "macros"
    if is_gap(text_of(key), found, key):
        return "gaps"
    if any("setjmp" in text_of((file, number + at)) or "_try" in text_of((file, number + at)) for at in range(-5, 1)):
        return "functions that return twice"
    if is_left(text_of, found, key):
        return "code after a call that throws or does not return"
    if re.match(r"[:,]? *\w+\(.*\)(,| *\{.*)$", line) and text_of((file, number - 1)).strip().endswith((",", ")")):
        return "initializers of templates"
    if line == "}" and not any((file, number - at) in found.code for at in (1, 2)):
        return "what the compiler leaves out"
    if re.search(r"\) (const )?(override )?\{$", line) and not re.match(r"(for|while|if|switch)\b", line):
        return "functions inside of functions"
    if re.search(r"[Ww]ait\(|cv_|lock\(", line):
        return "threads"
    return None

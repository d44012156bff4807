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


def reason(text_of, key):
    """The rule by which llvm-cov may count a line otherwise, or None."""
    file, number = key
    line, before = (text_of((file, number + at)).strip() for at in (0, -1))
    if "assert(" in line or re.match(r"[A-Z][A-Z_0-9]{3,}\b", line):
        return "macros with statements"
    if re.match(r"\w+ ?\(", line) and re.search(r"\)$|\belse$|:$", before):
        return "macros of macros"
    if any(re.search(r"\} ?while ?\(", text_of((file, number + at))) for at in (-1, -2)):
        return "code after a loop"
    if "setjmp" in line:
        return "functions that return twice"
    if line == "}":
        return "braces after a macro"
    return None

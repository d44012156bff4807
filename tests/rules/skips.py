#!/usr/bin/env python3
"""tests/skips.txt: every reason that a test gives is a row, every row is given by a test and says what enables it."""
import ast
import os
import re
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import ROOT, TESTS, case, check, equal, main, reasons

GIVERS = ("skip", "need")  # functions of harness.py whose first text is a reason


def sources():
    """{path: text} of the tests."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "tests"], cwd=ROOT, capture_output=True, text=True, check=True)
    paths = [path for path in listed.stdout.split("\n") if path.endswith((".py", ".c", "rules_turn_red")) and os.path.exists(os.path.join(ROOT, path))]
    texts = {}
    for path in paths:
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            texts[path] = file.read()
    return texts


def given(path, text):
    """(line, reason) of each call that gives a reason; None: a text that is put together."""
    if path.endswith(".c"):
        for match in re.finditer(r"\bSKIP_TEST\((.*?)\)", text):
            yield text.count("\n", 0, match.start()) + 1, match[1].strip('"')
        for match in re.finditer(r"(?<!\w)skip\(\)", text):
            yield text.count("\n", 0, match.start()) + 1, None
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)
            if name in GIVERS:
                for argument in node.args[:1]:
                    if isinstance(argument, ast.JoinedStr):
                        yield node.lineno, None
                    elif isinstance(argument, ast.Constant):
                        yield node.lineno, argument.value


@case("every reason in a test is a row of the table")
def known():
    table, wrong, count = reasons(), [], 0
    for path, text in sources().items():
        for line, reason in given(path, text):
            count += 1
            if reason not in table:
                wrong.append(f"{path}:{line}: {reason or 'no identifier'}")
    check(count > 80 and not wrong, f"{count} reasons, not in the table:\n" + "\n".join(wrong))


@case("every row is a reason of a test")
def used():
    text = "\n".join(sources().values())
    equal([reason for reason in reasons() if not re.search(f"""["']{re.escape(reason)}["']""", text)], [], "rows that no test gives")


@case("every reason for which CI may skip is a row")
def allowed():
    with open(os.path.join(ROOT, ".ci", "skips"), encoding="ascii") as file:
        names = [line.split("#")[0].strip() for line in file]
    equal(sorted(set(filter(None, names)) - set(reasons())), [], "reasons of .ci/skips that are no rows")


@case("every row has an identifier, a sentence, and what enables the test")
def whole():
    with open(os.path.join(TESTS, "skips.txt"), encoding="ascii") as file:
        rows = [line.rstrip("\n") for line in file if line.strip() and not line.startswith("#")]
    check(len(rows) > 50, f"{len(rows)} rows")
    equal([row for row in rows if not re.fullmatch(r"[a-z][\w.+-]* \| [^|]+[^|.] \| [^|]+( \| [^|]+)?", row)], [], "rows of another form")
    identifiers = [row.split(" | ")[0] for row in rows]
    equal(len(set(identifiers)), len(identifiers), "rows with different identifiers")


main()

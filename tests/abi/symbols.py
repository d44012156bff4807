#!/usr/bin/env python3
"""The exported functions with their signatures, as text sorted by name: one line for each.

usage: tests/abi/symbols.py BUILD > tests/abi/symbols.txt

The names are those that the libraries export; the signatures are those that the headers declare with
NTR_API, without the names of parameters. `private`: no public header declares the function, libntrace exports it for libntrace-tools alone.
"""
import glob
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(ROOT, "tools"))
import c_source  # noqa: E402: found by the line above

NAMES = ("libntrace", "libntrace-tools")


def type_of(parameter):
    """The parameter without its name; function pointers stay as they are."""
    if "(" in parameter:
        return parameter
    found = re.fullmatch(r"(.*[ *])\w+((?:\[\w*\])*)", parameter.strip())
    return found.group(1).strip() + found.group(2) if found and found.group(1).strip() not in ("struct", "enum", "union") else parameter.strip()


def parameters(signature):
    """The parameters of a signature: commas inside of parentheses do not separate them."""
    depth, parts = 0, [""]
    for c in signature[1:-1]:
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return parts


def signatures(root=ROOT):
    """{function: (is public, signature)} of all headers of the libraries."""
    found = {}
    for public, pattern in ((False, "src/*/*.h"), (True, "include/ntrace/*.h*")):
        for path in sorted(glob.glob(os.path.join(root, pattern))):
            for declaration in re.findall(r"^NTR_API\s+([^;{]+);", c_source.blank(c_source.read(path)), re.M):
                text = re.sub(r"\s+", " ", re.sub(r"__attribute__\(\(.*\)\)", "", declaration)).strip().replace("* ", "*")
                result, name, rest = re.fullmatch(r"(.*?)(\w+)(\(.*\))", text).groups()
                found[name] = (public, f"{result}{name}({', '.join(type_of(p) for p in parameters(rest))})")
    return found


def exported(library):
    listed = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    return sorted(line.split()[-1] for line in listed.splitlines() if line.split()[-1].startswith("ntr_"))


def lines(name, library, declared):
    """The lines of one library. A symbol that no header declares has no signature."""
    rows = []
    for symbol in exported(library):
        public, text = declared.get(symbol, (False, symbol))
        rows.append(f"{name}{'' if public else ' private'}: {text}")
    return rows


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for library in NAMES:
        print("\n".join(lines(library, os.path.join(sys.argv[1], library + ".so"), signatures())))

"""Coverage of `ntrace coverage` compared with gcov's, of the same sources: a program built with --coverage and run under plain
QEMU, and one built without it and traced.

What is expected to differ, and why:
  * gcov puts a function's entry on the line of its name, DWARF on its opening brace; and a closing brace has
    code of its own: lines of only braces, and lines with a function's head, stand in one list only.
  * labels have a count in gcov and no instruction in the binary.
"""
import json
import os
import re
import subprocess

TIMEOUT = 300


class Coverage:
    """Counts by (base name of the file, line), and of functions by linkage name."""

    def __init__(self):
        self.lines, self.branches, self.functions, self.heads = {}, {}, {}, set()


def run(*command, cwd, status=(0,), env=None):
    done = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIMEOUT, env=env, check=False)
    if status and done.returncode not in status:
        raise subprocess.SubprocessError(f"{' '.join(command[:12])}: status {done.returncode}\n{done.stderr.decode(errors='replace')[-2000:]}")
    return done.stdout


def gcov(place, gcov_command="riscv64-linux-gnu-gcov", selected=lambda path: not path.startswith("/usr")):
    """Reads all .gcda files of a folder. A line of a header is counted in each object that has code for it."""
    found = Coverage()
    data = [os.path.join(folder, name) for folder, _, names in os.walk(place) for name in names if name.endswith(".gcda")]
    for path in data:
        answer = json.loads(run(gcov_command, "--json-format", "--stdout", "-b", path, cwd=place))
        for file in answer["files"]:
            if not selected(file["file"]):
                continue
            name = os.path.basename(file["file"])
            for line in file["lines"]:
                key = name, line["line_number"]
                found.lines[key] = found.lines.get(key, 0) + line["count"]
                found.branches.setdefault(key, []).append([branch["count"] for branch in line["branches"]])
            for function in file["functions"]:
                found.heads.add((name, function["start_line"]))
                found.functions[function["name"]] = found.functions.get(function["name"], 0) + function["execution_count"]
    return found


def traced(ntrace, bundle, place, *options, files=None):
    """Reads the coverage of a trace; `files`: base names that count."""
    found = Coverage()
    for file in json.loads(run(ntrace, "coverage", "--to", "json", *options, bundle, cwd=place))["files"]:
        name = os.path.basename(file["file"])
        if files is not None and name not in files:
            continue
        for line in file["lines"]:
            if line["known"]:
                found.lines[name, line["line"]] = line["count"]
            found.branches[name, line["line"]] = [b[way] for b in line.get("branches", []) for way in ("taken", "not_taken")]
        for function in file["functions"]:
            found.functions[function["linkage"]] = found.functions.get(function["linkage"], 0) + function["count"]
    return found


def may_stand_alone(text):
    """Whether only one side may list the line."""
    head = re.match(r"^\s*[\w~].*\)\s*(const)?\s*(noexcept)?\s*\{?\s*$", text) is not None
    return head or text.strip() in ("{", "}", "};", "") or re.match(r"\s*(case [^;]*|default|\w+)\s*:\s*({?|/[/*].*)$", text) is not None


JUMP = re.compile(r"(break|continue|goto \w+|return|va_end ?\(.*\));|(for ?\([^;]*;;.*\)|while ?\( ?(1|true)\b.*\)).*$|\}|\w+:$|default:|case ")
PART = re.compile(r"(\|\||&&|[,(?:|+=-]|<<)( ?\\)?( */\*.*\*/| *//.*)?$")
HEAD = re.compile(r"[A-Za-z_].*\(")


def reason(text_of, key):
    """The rule of docs/coverage-rules.md ("Lines") by which gcov may count a line otherwise, or None."""
    file, line = key
    text = text_of(key).strip()
    after, before = text_of((file, line + 1)).strip(), text_of((file, line - 1)).strip()
    cpp = re.search(r"\.(cc|cpp|hpp|inl|h)$", file) is not None and not file.endswith(".c")
    begin = next((at for at in range(line, 0, -1) if re.match(r"\w.*\(|\w+.*\{$|\{", text_of((file, at)))), 0)
    while begin > 0 and text_of((file, begin)).strip() and not text_of((file, begin)).startswith(("}", "/*", "//")):
        begin -= 1
    head = "".join(text_of((file, at)) for at in range(begin, min(begin + 16, line + 1)))
    if re.search(r"FORCE_?INLINE|always_inline|FORCE_O2", head):
        return "copies by always_inline"
    if HEAD.match(text_of((file, line))) or (cpp and re.match(r"(void|bool|int|static|virtual|inline) .*\) (const )?\{$", text)):
        return "a function that begins with a loop"
    if cpp and after.startswith("{") and re.match(r"(\w+ )*[\w:<>*&]+ [*&]?[\w~]+\(.*\)( const)?( noexcept)?( override)?$", text):
        return "a function that begins with a loop"
    if re.match(r"throw", text):
        return "ways out of a scope in C++"
    if cpp and re.search(r"= \{\{|^\{.*\},?$", text):
        return "lists in braces in C++"
    if text.startswith("switch"):
        return "switch"
    if JUMP.match(text):
        return "ways out of a scope in C++" if cpp else "jumps"
    if re.match(r"return\b", text):
        return "ways out of a scope in C++" if cpp else "jumps"
    if PART.search(text) or PART.search(before) or any(re.match(r"(\|\||&&|[?:] |\?|<<|\.\w)", one) for one in (text, after)):
        return "parts of an expression on several lines"
    if re.match(r"[A-Z][A-Z0-9_]{3,}\b ?\(", text) or re.match(r"[a-z]?[A-Z0-9_]{4,}\(", text):
        return "several statements of a macro on one line"
    if re.search(r"[{;)] *(break|continue|goto \w+|return)\b[^;]*;", text):
        return "jumps"
    return None


def compare(text_of, ours, theirs):
    """Returns the number of lines that both list, and lists of differences: of counts, of executed or not, and of lines that one
    lists alone. `text_of(key)` returns the text of a line."""
    both = sorted(set(ours.lines) & set(theirs.lines))
    counts = [(key, ours.lines[key], theirs.lines[key]) for key in both if ours.lines[key] != theirs.lines[key]]
    executed = [row for row in counts if (row[1] > 0) != (row[2] > 0)]
    alone = [(key, ours.lines.get(key), theirs.lines.get(key)) for key in sorted(set(ours.lines) ^ set(theirs.lines))
             if key not in theirs.heads and not may_stand_alone(text_of(key))]
    return len(both), counts, executed, alone


def texts_below(place, sources=()):
    """Returns text_of for the sources below a folder; of those with one name, the one in `sources`."""
    paths = {name: os.path.join(folder, name) for folder, _, names in os.walk(place) for name in names}
    paths.update({os.path.basename(source): os.path.join(place, source) for source in sources})
    known = {}
    defined = set()
    for path in paths.values():
        if path.endswith((".h", ".c", ".cc", ".cpp", ".inl")):
            with open(path, encoding="utf-8", errors="replace") as file:
                defined.update(re.findall(r"^\s*#\s*define\s+(\w+)\(", file.read(), re.M))

    def text_of(key):
        name, number = key
        if name not in known:
            try:
                with open(paths[name], encoding="utf-8", errors="replace") as file:
                    known[name] = file.read().split("\n")
            except (KeyError, OSError):
                known[name] = []
        return known[name][number - 1] if 0 < number <= len(known[name]) else ""

    text_of.defined = defined  # names of macros with arguments
    return text_of

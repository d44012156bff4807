"""C sources for the checks of tools/: the list of files, and their text without comments."""
import os
import re

EXTENSIONS = (".c", ".h", ".def", ".inc")
TOKEN = re.compile(r"""//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.S)


def splice(text):
    """Lines that end with a backslash joined to the next one. The line numbers of the other lines do not change."""
    if "\\\n" not in text:
        return text
    lines, begun, ends = [], "", 0
    for line in (text + "\n").split("\n")[:-1]:
        if line.endswith("\\"):
            begun, ends = begun + line[:-1], ends + 1
        else:
            lines.append(begun + line + "\n" * ends)
            begun, ends = "", 0
    return "\n".join(lines + ([begun + "\\" + "\n" * (ends - 1)] if ends else []))


def spaces(text):
    """As many blanks as the text has characters; line feeds are kept."""
    return "\n".join([" " * len(line) for line in text.split("\n")])


def blank(text, literals=False):
    """The text with comments replaced by blanks of the same shape; optionally also string and character literals."""
    def one(match):
        return spaces(match.group()) if literals or match.group()[0] == "/" else match.group()
    return TOKEN.sub(one, text)


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def files(root, tops, extensions=EXTENSIONS):
    """The source files below root/top for each top, sorted, relative to root."""
    found = []
    for top in tops:
        for here, folders, names in os.walk(os.path.join(root, top)):
            folders.sort()
            found += [os.path.relpath(os.path.join(here, name), root) for name in sorted(names) if name.endswith(extensions)]
    return found

"""The packages of a folder of tools/debian_root, from its two lists."""
import os


def packages_of(root):
    """{name: {field: value}}, of each the one that was unpacked last. A folder may lack one of the lists: `alone`, and that of the others."""
    found = {}
    for name in ("alone", "var/lib/dpkg/status"):
        path = os.path.join(root, ".apt", name)
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as file:
            for paragraph in file.read().split("\n\n"):
                fields = dict(line.split(": ", 1) for line in paragraph.splitlines() if ": " in line and line[0] != " ")
                if "Package" in fields:
                    found[fields["Package"]] = fields
    return found

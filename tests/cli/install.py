#!/usr/bin/env python3
"""The files of `meson install`: the command, the library in both forms, headers, man pages, completion.

Arguments: the command, the build folder, the C compiler, the sanitizers of this build ("none" or a list), whether it
counts what its tests reach ("true").
"""
import glob
import json
import os
import re
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import tiny
from harness import Run, bytes_of, case, check, equal, main, need, scratch, write
from reader_program import MESSAGES, PROGRAM

BUILD, COMPILER, SANITIZERS = sys.argv[2], sys.argv[3].split(), sys.argv[4]
SANITIZE = [] if SANITIZERS == "none" else [f"-fsanitize={SANITIZERS}"]
COVERAGE = sys.argv[5:] == ["true"]
SANITIZE += ["--coverage"] if COVERAGE else []
TOOLS_PROGRAM = r"""
#include <ntrace/tools.h>
#include <stdio.h>

int main(void) {
    if (ntr_version() != NTR_VERSION) return 1;
    printf("%s %s %s\n", ntr_version_text(), ntr_exporter_name(ntr_exporter_at(0)), ntr_check_rule_at(0)->id);
    return 0;
}
"""
VERSION = "0."


def run(*command, env=None):
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, **(env or {})), cwd=scratch())
    check(done.returncode == 0, f"{' '.join(command)}: {done.stderr[-1500:]}")
    return done.stdout


def tree():
    """The installed tree; installs on first use."""
    folder = os.path.join(scratch(), "root")
    if not os.path.exists(folder):
        run("meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", folder)
    return folder


def find(pattern):
    found = glob.glob(os.path.join(tree(), "**", pattern), recursive=True)
    check(found, f"{pattern} is not installed")
    return found[0]


def flags(library, *options):
    """The output of pkg-config, with paths inside the tree."""
    need("pkg-config")
    where = os.path.dirname(find("libntrace.pc"))
    return run("pkg-config", *options, library,
               env={"PKG_CONFIG_LIBDIR": where + ":" + system_folders(), "PKG_CONFIG_SYSROOT_DIR": ""}).split()


def system_folders():
    return run("pkg-config", "--variable", "pc_path", "pkg-config").strip()


def moved(words):
    """-I and -L of the prefix, with DESTDIR put before them."""
    result = []
    for word in words:
        path = word[2:]
        inside = word[:2] in ("-I", "-L") and os.path.exists(tree() + path)
        result.append(word[:2] + tree() + path if inside else word)
    return result


def build(name, text, *words):
    source = os.path.join(scratch(), "program.c")
    with open(source, "w") as file:
        file.write(text)
    path = os.path.join(scratch(), name)
    run(*COMPILER, "-Wall", "-Werror", *SANITIZE, "-o", path, source, *words)
    return path


@case("command, man pages and completion are installed and the command runs")
def files():
    command = find("bin/ntrace")
    equal(run(command, "--version"), Run("--version").out, "version")
    for name in ("man1/ntrace.1", "man1/ntrace-dump.1", "bash-completion/completions/ntrace", "include/ntrace/ntrace.h",
                 "libntrace.so", "libntrace.a", "libntrace-tools.so", "libntrace-tools.a", "libntrace-tools.pc"):
        find(name)


@case("every public header is installed and compiles alone in C", COMPILER)
@case("every public header compiles alone in C++", ["c++", "-x", "c++"])
def headers(compiler):
    need(compiler[0], "g++")
    folder = os.path.dirname(find("include/ntrace/ntrace.h"))
    tree = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    with open(os.path.join(tree, "tools", "interface.txt"), encoding="utf-8") as file:
        lab = next(line.split()[1:] for line in file if line.startswith("lab:")) + ["lab"]
    for name in sorted(os.listdir(os.path.join(tree, "include", "ntrace"))):
        installed = os.path.exists(os.path.join(folder, name))
        if name.endswith((".h", ".def")):
            check(installed == (name[:-2] not in lab), f"{name} is {'' if installed else 'not '}installed")
        if name.endswith(".h"):  # the lab, which is not installed, comes from the tree
            source = write("header.c", f"#include <ntrace/{name}>\n".encode())
            run(*compiler, "-fsyntax-only", "-Wall", "-Werror", "-I", os.path.dirname(folder), "-I", os.path.join(tree, "include"), source)


@case("a program builds against the shared library by pkg-config, and runs")
def shared_library():
    library = os.path.dirname(find("libntrace.so"))
    path = build("with-shared", PROGRAM, *moved(flags("libntrace", "--cflags", "--libs")))
    equal(run(path, env={"LD_LIBRARY_PATH": library}), MESSAGES, "output")
    path = build("tools-with-shared", TOOLS_PROGRAM, *moved(flags("libntrace-tools", "--cflags", "--libs")))
    check(run(path, env={"LD_LIBRARY_PATH": library}).startswith(VERSION), "libntrace-tools runs")


@case("a program builds against the static library by pkg-config, and runs")
def static_library():
    def static(library):
        archives = {"-lntrace": "libntrace.a", "-lntrace-tools": "libntrace-tools.a"}
        words = moved(flags(library, "--static", "--cflags", "--libs"))
        return [find(archives[word]) if word in archives else word for word in words]

    equal(run(build("with-static", PROGRAM, *static("libntrace"))), MESSAGES, "output")
    check(run(build("tools-with-static", TOOLS_PROGRAM, *static("libntrace-tools"))).startswith(VERSION),
          "libntrace-tools runs")


# What the examples in the comments of headers leave out: declarations before them, and what is printed after them. Hardware, and QEMU with
# its plugin, are not here: those two are compiled only.
EXAMPLES = {
    "bundle.h": ("ntr_bundle *bundle; ntr_program *program; ntr_bundle_new(NULL, &bundle); ntr_program_new(NULL, &program); ntr_stream_reader *stream;"
                 "ntr_decoder *decoder; ntr_decoder_config config; ntr_status status; ntr_bytes span; bool last; ntr_counts counts = {0};"
                 "ntr_decoder_config_init(&config);", 'printf("%d %d\\n", status, (int)counts.instructions);', "0 5\n"),
    "perf_data.h": ("ntr_perf_data *data; ntr_params params; ntr_program *program; ntr_program_new(NULL, &program); FILE *user = stdout;"
                    "ntr_params_init(&params, NULL);", 'printf("%s\\n", ntr_perf_data_error(data));', "perf.data: No such file or directory\n"),
    "capture.h": ("", "", None),
    "target.h": ("ntr_bus bus; ntr_bus_options options = {0}; ntr_target_config config = {0}; ntr_target *target; ntr_status status;"
                 "ntr_target_state state = {0}; size_t sink_index = 0; ntr_stream_sink take = NULL; void *user = NULL; ntr_target_content result;",
                 "", None),
}


def example(name):
    """The code in the first comment of the header: lines indented by three."""
    with open(find(f"include/ntrace/{name}"), encoding="utf-8") as file:
        comment = file.read().split("*/")[0]
    lines = [line[5:] for line in comment.splitlines() if line.startswith(" *   ")]
    return "\n".join(line for line in lines if not re.match(r"[\w/.\[\]]+  +[\w']", line))  # a table of files is no code


@case("the examples of headers compile, and those that need no hardware do what they say")
def header_examples():
    library = os.path.dirname(find("libntrace.so"))
    place = os.path.join(scratch(), "x.ntrace", "images")
    os.makedirs(place)
    described = {"format": "ntrace-bundle", "version": 1, "stream": "trace.nex", "params": {"dialect": "ntrace-1.0"},
                 "images": [{"kind": "elf", "file": "images/tiny"}]}
    for file, content in (("capture.json", json.dumps(described).encode()), ("images/tiny", tiny.elf()), ("trace.nex", bytes_of(tiny.HTM))):
        write(os.path.join("x.ntrace", file), content)
    for name, (before, after, expected) in EXAMPLES.items():
        code = example(name)
        check(code.count(";") > 3, f"{name} has no example: {code!r}")
        text = f"""#include <ntrace/tools.h>
#include <stdio.h>
#include <stdlib.h>
static ntr_status print(void *user, const void *bytes, size_t size) {{
    return fwrite(bytes, 1, size, user) == size ? NTR_OK : NTR_E_IO;
}}
int main(void) {{
    ntr_status (*write)(void *, const void *, size_t) = print;
    (void)write;
    {before}
{code.rstrip(" */")}
    {after}
    return 0;
}}
"""
        path = build("example", text, "-Wno-unused-variable", *moved(flags("libntrace-tools", "--cflags", "--libs")))
        if expected is not None:
            equal(run(path, env={"LD_LIBRARY_PATH": library}), expected, name)


@case("libntrace needs nothing but the C library, and libelf when it was built with it")
def dependencies():
    needed = [line.split("[")[1].rstrip("]") for line in run("readelf", "-d", find("libntrace.so")).splitlines()
              if "(NEEDED)" in line]
    if SANITIZERS == "none" and not COVERAGE:
        extra = [name for name in needed if not name.startswith(("libc.so", "libelf.so", "ld-linux"))]
        equal(extra, [], "libraries beside libc and libelf")


if __name__ == "__main__":
    main()

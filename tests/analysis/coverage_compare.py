#!/usr/bin/env python3
"""Coverage of real C and C++ programs compared with gcov's: lines and functions, program by program and build by build.

usage: coverage_compare.py NTRACE SOURCES [PROGRAM...] [--builds BUILD,...]

SOURCES is a folder in which the archives *.orig.tar.* of Debian's source packages are unpacked (apt-get source --download-only).
Each program is built twice with the same compiler: with --coverage and run under plain QEMU, and without it and traced. Both
runs have the same input. The result is a table in Markdown, and on standard error each line with another count, with the rule of
docs/coverage-rules.md ("Lines") that explains it. The exit status is 1 when more than 1 of 1,000 lines differ by no rule.
"""
import concurrent.futures
import glob
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.append(os.path.dirname(os.path.abspath(__file__)))
import gcov_truth as truth

GCC = "riscv64-linux-gnu-gcc"
GXX = "riscv64-linux-gnu-g++"
ENVIRONMENT = {**os.environ, "QEMU_LD_PREFIX": "/usr/riscv64-linux-gnu"}
TEXT = "a [list, of] {\"words\": 1, 'and': [2.5, true, null]}\n- more: words\n" * 40
JSON = '{"a": [1, 2.5, true, null, "text \\u00e4"], "b": {"c": "d", "e": [[], {}]}}\n'
XML = "<?xml version='1.0'?><!DOCTYPE r [<!ENTITY e 'x'>]><r a='1'><b>text &amp; &e;</b><!-- c --><?p i?><![CDATA[d]]></r>\n"
LUA = ("local t = {} for i = 1, 50 do t[#t + 1] = i * 2 end table.sort(t, function(a, b) return a > b end)\n"
       "print(string.format('%d %s', #t, table.concat(t, ',')), string.gsub('hello', 'l+', string.upper))\n"
       "local ok, e = pcall(error, {1}) local co = coroutine.wrap(function(...) for i = 1, 3 do coroutine.yield(i) end end) co() co()\n"
       "print(ok, math.floor(2.5), 7 // 2, 1 << 4, tostring(nil), #e, select('#', 1, 2))\n")
SCRIPT = ("var a = []; for (var i = 0; i < 30; ++i) a.push(i * i); a.sort(function (x, y) { return y - x; });\n"
          "print(JSON.stringify({a: a.slice(0, 5), b: /h(.)l*/.exec('hello')}), parseFloat('2.5e3'), new Date(0).toISOString());\n"
          "try { null.x; } catch (e) { print(e); }\n")
FILES = {"in.txt": TEXT, "in.json": JSON, "in.xml": XML, "in.lua": LUA, "in.js": SCRIPT, "in.yaml": TEXT[TEXT.index("- more"):]}

# Folder, sources (patterns; a leading ! removes), flags, arguments, standard input, other files that are needed.
PROGRAMS = {
    "zlib": ("zlib-*", "*.c !minigzip.c test/example.c", "-DHAVE_UNISTD_H -I.", ["out.gz"], None),
    "bzip2": ("bzip2-*", "blocksort.c huffman.c crctable.c randtable.c compress.c decompress.c bzlib.c bzip2.c", "", ["-kc", "in.txt"], None),
    "cjson": ("cJSON-*", "cJSON.c test.c", "", [], None),
    "lua": ("lua-*", "src/*.c !src/luac.c", "-DLUA_USE_POSIX -Dluai_makeseed(L)=5", ["in.lua"], None),
    "expat": ("libexpat-*", "expat/lib/xmlparse.c expat/lib/xmlrole.c expat/lib/xmltok.c expat/examples/outline.c",
              "-Iexpat/lib -DXML_DEV_URANDOM -DXML_NS -DXML_DTD -DXML_CONTEXT_BYTES=1024 -DHAVE_MEMMOVE -DBYTEORDER=1234 -include unistd.h", [], "in.xml"),
    "jansson": ("jansson-*", "src/*.c test/bin/json_process.c", "-Iandroid -Isrc -DHAVE_STDINT_H -DHAVE_LOCALE_H -DHAVE_SETLOCALE", ["--env"], "in.json"),
    "libyaml": ("libyaml-*", "src/*.c tests/run-parser.c",
                "-Iinclude -DYAML_VERSION_STRING=\"0.2.5\" -DYAML_VERSION_MAJOR=0 -DYAML_VERSION_MINOR=2 -DYAML_VERSION_PATCH=5", ["in.yaml"], None),
    "lz4": ("lz4-*", "lib/*.c programs/*.c", "-Ilib -DXXH_NAMESPACE=LZ4_", ["-c", "-9", "in.txt"], None),
    "mujs": ("mujs-*", "one.c main.c", "", ["in.js"], None),
    "tinyxml2": ("tinyxml2-*", "tinyxml2.cpp xmltest.cpp", "", [], None),
    "jsoncpp": ("jsoncpp-*", "src/lib_json/*.cpp src/test_lib_json/*.cpp", "-Iinclude -Isrc/lib_json", [], None),
    "pugixml": ("pugixml-*", "src/pugixml.cpp tests/main.cpp tests/test.cpp tests/allocator.cpp tests/writer_string.cpp tests/test_document.cpp "
                "tests/test_dom_modify.cpp tests/test_parse.cpp tests/test_xpath_functions.cpp", "-Isrc", [], None),
    "yaml-cpp": ("yaml-cpp-*", "src/*.cpp util/parse.cpp", "-Iinclude", ["in.yaml"], None),
    "snappy": ("snappy-*", "snappy.cc snappy-sinksource.cc snappy-stubs-internal.cc snappy-c.cc driver.cc", "-I.", ["in.txt"], None),
}
DRIVERS = {
    "expat": {"expat/lib/expat_config.h": "#pragma once\n"},
    "jansson": {"android/jansson_private_config.h": "#pragma once\n"},
    "snappy": {"driver.cc": '#include "snappy.h"\n#include <fstream>\n#include <iostream>\n#include <iterator>\nint main(int, char **v) {\n'
               '    std::ifstream f(v[1]);\n    std::string s{std::istreambuf_iterator<char>(f), {}}, z, u;\n    snappy::Compress(s.data(), s.size(), &z);\n'
               '    return !snappy::Uncompress(z.data(), z.size(), &u) || u != s;\n}\n',
               "config.h": "", "snappy-stubs-public.h": '#pragma once\n#include <cstddef>\n#include <sys/uio.h>\n#define SNAPPY_MAJOR 1\n#define SNAPPY_MINOR 1\n'
               "#define SNAPPY_PATCHLEVEL 9\n#define SNAPPY_VERSION 0x010109\nnamespace snappy { using ::iovec; }\n"},
}
BY_REASON = {}
BUILDS = {"static": "-O0 -static", "pie": "-O0", "lto": "-O0 -flto", "sections": "-O0 -ffunction-sections -Wl,--gc-sections", "dwarf4": "-O0 -gdwarf-4"}


def chosen(place, patterns):
    found = []
    for pattern in patterns.split():
        if pattern.startswith("!"):
            found = [path for path in found if path != pattern[1:]]
        else:
            found += sorted(os.path.relpath(path, place) for path in glob.glob(os.path.join(place, pattern)))
    return found


def build(place, sources, flags, out):
    """Compiles each source in the folder itself, so that both builds have the same names of files."""
    def compile_one(source):
        compiler = GCC if source.endswith(".c") else GXX
        target = os.path.join(out, source.replace("/", "__") + ".o")
        truth.run(compiler, "-g", "-w", "-fsigned-char", *flags, "-c", source, "-o", target, cwd=place)
        return target

    os.makedirs(os.path.join(place, out))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        objects = list(pool.map(compile_one, sources))
    compiler = GXX if any(not source.endswith(".c") for source in sources) else GCC
    truth.run(compiler, "-g", "-w", *flags, *objects, "-o", out + "/program", "-lm", "-ldl", "-lpthread", cwd=place)


def edit(path, old, new):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace(old, new))


def several(place, sources):
    """Names of headers of which there are several in a folder: the results have no folders."""
    names = [name for _, _, files in os.walk(place) for name in files]
    return {name for name in names if names.count(name) > 1} - {os.path.basename(source) for source in sources}


def execute(command, place, stdin):
    with open(os.path.join(place, stdin) if stdin else os.devnull, "rb") as file:
        done = subprocess.run(command, cwd=place, stdin=file, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT, timeout=600, check=False)
    return done


def compare(ntrace, sources_folder, program, options, scratch):
    """Returns the number of lines that both list, of equal counts, of lines with other counts, of lines that only one calls executed,
    of lines that one lists alone, and of functions compared and different; and the lines."""
    folder, patterns, flags, arguments, stdin = PROGRAMS[program]
    place = os.path.join(scratch, program)
    shutil.copytree(glob.glob(os.path.join(sources_folder, folder))[0], place)
    for name, text in {**FILES, **DRIVERS.get(program, {})}.items():
        with open(os.path.join(place, name), "w", encoding="utf-8") as file:
            file.write(text)
    if program == "tinyxml2":
        os.makedirs(os.path.join(place, "resources", "out"), exist_ok=True)
    sources = chosen(place, patterns)
    if program == "lua":  # else tables and strings are hashed by their addresses, which differ
        edit(os.path.join(place, "src", "llimits.h"), "((unsigned int)((size_t)(p) & UINT_MAX))", "((void)(p), 7u)")
    if program == "jansson":  # else hashes are random
        edit(os.path.join(place, "src", "hashtable_seed.c"), "static uint32_t generate_seed() {", "static uint32_t generate_seed() { return 5;")
    build(place, sources, [*flags.split(), *options.split(), "--coverage"], "gcovd")
    build(place, sources, [*flags.split(), *options.split()], "plain")
    theirs_ran = execute(["qemu-riscv64", "gcovd/program", *arguments], place, stdin)
    ours_ran = execute([ntrace, "run", "-q", "-o", "plain.ntrace", "--", "plain/program", *arguments], place, stdin)
    if theirs_ran.returncode != ours_ran.returncode:
        raise RuntimeError(f"status {ours_ran.returncode}, instrumented {theirs_ran.returncode}: {ours_ran.stderr[-500:]}")
    theirs = truth.gcov(place)
    of_one_name = several(place, sources)
    for key in [key for key in theirs.lines if key[0] in of_one_name]:
        del theirs.lines[key]
    ours = truth.traced(ntrace, "plain.ntrace", place, files={name for name, _ in theirs.lines})
    for key in [key for key in theirs.lines if key not in ours.lines and not theirs.lines[key] and "gc-sections" in options]:
        del theirs.lines[key]
    both, counts, executed, alone = truth.compare(truth.texts_below(place, sources), ours, theirs)
    names = sorted(set(ours.functions) & set(theirs.functions))
    functions = [name for name in names if ours.functions[name] != theirs.functions[name]]
    text_of = truth.texts_below(place, sources)
    reasons = {key: truth.reason(text_of, key) for key, _, _ in counts}
    for key, _, _ in counts:
        BY_REASON[reasons[key]] = BY_REASON.get(reasons[key], 0) + 1
    rows = [f"{program} {options}: {key[0]}:{key[1]}: {a}, gcov {b}: {reasons.get(key, 'in one list only')}: {text_of(key).strip()[:90]}" for key, a, b in counts + alone]
    open_counts = sum(1 for key, _, _ in counts if reasons[key] is None)
    return both, len(counts), open_counts, len(executed), len(alone), len(names), len(functions), rows, [f"{program} {options}: function {name}: {ours.functions[name]}, gcov {theirs.functions[name]}" for name in functions]


def main():
    if len(sys.argv) < 3 or not os.path.isdir(sys.argv[2]):
        sys.exit("coverage_compare.py: expected NTRACE and a folder of unpacked sources (make coverage-compare SOURCES=FOLDER)")
    arguments = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    builds = [argument[9:].split(",") for argument in sys.argv if argument.startswith("--builds=")]
    ntrace, sources = os.path.abspath(arguments[0]), arguments[1]
    sums = [0] * 7
    print("| program | build | lines compared | other counts | by no rule | executed in one only | in one list only | functions | other counts |\n|---|---|---|---|---|---|---|---|---|", flush=True)
    for program in arguments[2:] or PROGRAMS:
        for name in builds[0] if builds else BUILDS:
            with tempfile.TemporaryDirectory() as scratch:
                try:
                    *row, lines, functions = compare(ntrace, sources, program, BUILDS[name], scratch)
                except (RuntimeError, subprocess.SubprocessError, IndexError, OSError) as error:
                    print(f"| {program} | {name} | {str(error).splitlines()[0][:120]} |", flush=True)
                    print(str(error)[:3000], file=sys.stderr)
                    continue
            print(f"| {program} | {name} | {' | '.join(map(str, row))} |", flush=True)
            sums = [a + b for a, b in zip(sums, row)]
            print("\n".join(lines + functions), file=sys.stderr)
    print(f"| all | | {' | '.join(map(str, sums))} |")
    print("other counts by rule: " + ", ".join(f"{rule}: {count}" for rule, count in sorted(BY_REASON.items(), key=lambda item: -item[1])))
    return sums[2] * 1000 > sums[0]


if __name__ == "__main__":
    sys.exit(main())

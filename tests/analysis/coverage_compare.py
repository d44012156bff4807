#!/usr/bin/env python3
"""Coverage of real C and C++ programs compared with that of gcov and llvm-cov: lines, functions and decisions, program by program.

usage: coverage_compare.py NTRACE SOURCES [PROGRAM...] [--builds=BUILD,...]

SOURCES is a folder in which the archives *.orig.tar.* of Debian's source packages are unpacked (apt-get source --download-only).
Each program is built twice with the same compiler: instrumented and run under plain QEMU, and without that and traced. Both
runs have the same input. The result is a table in Markdown, and on standard error each line with another count, with the rule of
docs/coverage-rules.md ("Lines") that explains it. The exit status is 1 when more than 1 of 1,000 lines differ by no rule.

The library that counts for clang is that of Debian for RISC-V (tools/debian_root --arch riscv64 --suite trixie --no-depends libclang-rt-19-dev).
"""
import concurrent.futures
import functools
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.append(os.path.dirname(os.path.abspath(__file__)))
import gcov_truth as truth
import llvm_truth
import mcdc
import stored

TOOLS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools")
CLANG = ("--target=riscv64-linux-gnu", "-mno-relax")
COMPILERS = {"gcc": (("riscv64-linux-gnu-gcc",), ("riscv64-linux-gnu-g++",)), "clang": (("clang-19", *CLANG), ("clang++-19", *CLANG))}
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

GTEST = "googletest/googletest/src/gtest-all.cc googletest/googlemock/src/gmock-all.cc"
INCLUDE_GTEST = "-Igoogletest/googletest/include -Igoogletest/googletest -Igoogletest/googlemock/include -Igoogletest/googlemock"
SQL = ("create table t(a integer primary key, b text, c real); create index i on t(b);\n"
       "with recursive n(x) as (select 1 union all select x + 1 from n where x < 300) insert into t select x, 'k' || (x * 7 % 50), x / 3.0 from n;\n"
       "select b, count(*), sum(c) from t where a between 10 and 250 group by b having count(*) > 2 order by 3 desc limit 5;\n"
       "begin; update t set c = c * 2 where b like 'k1%'; savepoint s; delete from t where a % 3 = 0; rollback to s; commit;\n"
       "select json_extract('{\"a\":[1,2,{\"b\":3}]}', '$.a[2].b'), printf('%08.3f', 3.14159), substr('hello', 2, 3), typeof(null);\n"
       "create view v as select t.a, u.b from t join t as u on t.a = u.a + 1; select count(*), max(b) from v;\n"
       "create trigger g after insert on t begin update t set c = 0 where a = new.a; end; insert into t values (1000, 'x', 5); select c from t where a = 1000;\n"
       "select a, row_number() over (order by c), lag(b) over (order by a) from t where a < 5; explain query plan select * from t where b = 'k1'; pragma integrity_check;\n")
# Folder, sources (patterns; a leading ! removes a path, - all that end so or contain it), flags, arguments, standard input, other files that are needed.
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
    "sqlite": ("sqlite3-*", "sqlite3.c shell.c", "-DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION", ["-batch", ":memory:", ".read in.sql"], None),
    "googletest": ("googletest-*", "googletest/src/gtest-all.cc googletest/src/gtest_main.cc googletest/samples/*.cc -sample9 -sample10",
                   "-Igoogletest/include -Igoogletest", ["--gtest_print_time=0"], None),
    "fmt": ("fmtlib-*", f"src/format.cc src/os.cc test/format-test.cc test/args-test.cc test/util.cc test/test-main.cc test/gtest-extra.cc {GTEST}",
            f"-std=c++17 -DFMT_GCC_PRAGMA(arg)= -Iinclude -Itest {INCLUDE_GTEST}", ["--gtest_print_time=0"], None),
    "re2": ("re2-*", "re2/*.cc util/rune.cc util/strutil.cc driver.cc", "-I.", [], None),
    "leveldb": ("leveldb-*", "db/*.cc table/*.cc util/*.cc helpers/memenv/memenv.cc !db/leveldbutil.cc -_test.cc -windows -test_helper.cc -testutil driver.cc",
                "-I. -Iinclude -DLEVELDB_PLATFORM_POSIX=1 -DHAVE_FDATASYNC=1 -DHAVE_FULLFSYNC=0 -DHAVE_O_CLOEXEC=1 -DHAVE_CRC32C=0 -DHAVE_SNAPPY=0", [], None),
    "nlohmann-json": ("json-3*", "tests/src/unit.cpp tests/src/unit-capacity.cpp tests/src/unit-pointer_access.cpp tests/src/unit-json_pointer.cpp tests/src/unit-merge_patch.cpp",
                      "-Iinclude -Itests/thirdparty/doctest", [], None),
    "snappy": ("snappy-*", "snappy.cc snappy-sinksource.cc snappy-stubs-internal.cc snappy-c.cc driver.cc", "-I.", ["in.txt"], None),
}
DRIVERS = {
    "sqlite": {"in.sql": SQL},
    "leveldb": {"port/port_config.h": "", "driver.cc": '#include "helpers/memenv/memenv.h"\n#include "leveldb/cache.h"\n#include "leveldb/db.h"\n#include "leveldb/env.h"\n'
                '#include "leveldb/filter_policy.h"\n#include "leveldb/write_batch.h"\n#include <cstdio>\n#include <string>\nint main() {\n    using namespace leveldb;\n'
                '    Env *env = NewMemEnv(Env::Default());\n    Options o;\n    o.env = env;\n    o.create_if_missing = true;\n    o.filter_policy = NewBloomFilterPolicy(10);\n'
                '    DB *db = nullptr;\n    int n = 0;\n    for (int round = 0; round < 3; round++) {\n        if (!DB::Open(o, "/db", &db).ok()) return 1;\n'
                '        for (int i = 0; i < 200; i++) {\n            std::string key = "key" + std::to_string(i * 7919 % 1000), value;\n            db->Put(WriteOptions(), key, std::string(i % 50, 97));\n'
                '            if (i % 5 == 0) db->Delete(WriteOptions(), key);\n            n += db->Get(ReadOptions(), key, &value).ok() + value.size();\n        }\n        WriteBatch batch;\n'
                '        batch.Put("a", "b");\n        batch.Delete("key7");\n        db->Write(WriteOptions(), &batch);\n        const Snapshot *s = db->GetSnapshot();\n'
                '        Iterator *it = db->NewIterator(ReadOptions());\n        for (it->SeekToFirst(); it->Valid(); it->Next()) n += it->key().size();\n        for (it->Seek("key5"); it->Valid(); it->Prev()) n++;\n'
                '        delete it;\n        db->ReleaseSnapshot(s);\n        if (round == 1) db->CompactRange(nullptr, nullptr);\n        delete db;\n    }\n    std::printf("%d\\n", n);\n    return 0;\n}\n'},
    # Debian's source leaves out the tables that are made of Unicode's data
    "re2": {"re2/tables.cc": '#include "re2/unicode_casefold.h"\n#include "re2/unicode_groups.h"\nnamespace re2 {\n'
            'const CaseFold unicode_casefold[] = {{65, 90, 32}, {97, 122, -32}};\nconst int num_unicode_casefold = 2;\n'
            'const CaseFold unicode_tolower[] = {{65, 90, 32}};\nconst int num_unicode_tolower = 1;\n'
            'static const URange16 digit[] = {{48, 57}};\nconst UGroup unicode_groups[] = {{"Nd", 1, digit, 1, 0, 0}};\nconst int num_unicode_groups = 1;\n'
            'const UGroup posix_groups[] = {{"[:digit:]", 1, digit, 1, 0, 0}};\nconst int num_posix_groups = 1;\n'
            'const UGroup perl_groups[] = {{"\\\\d", 1, digit, 1, 0, 0}, {"\\\\D", -1, digit, 1, 0, 0}};\nconst int num_perl_groups = 2;\n}\n',
            "driver.cc": '#include "re2/re2.h"\n#include "re2/set.h"\n#include <cstdio>\nint main() {\n    int found = 0;\n    const char *const patterns[] = '
            '{"a+b*", "(\\\\d+)-(\\\\d+)", "(?i)hello|world", "^x{2,5}y?$", "[a-f]+[^g-z]", "(a|b)*c", "(", "a{9999}", "\\\\bfoo\\\\b", "(n.*)z"};\n'
            '    const char *const texts[] = {"aab", "12-345", "Hello", "xxxy", "abcdef1", "ababac", "foo bar", "quizz", ""};\n    for (const char *p : patterns) {\n'
            '        re2::RE2::Options options;\n        options.set_log_errors(false);\n        re2::RE2 r(p, options);\n        if (!r.ok()) { found += r.error_code(); continue; }\n'
            '        for (const char *t : texts) {\n            std::string s(t), g;\n            found += re2::RE2::FullMatch(s, r) + 2 * re2::RE2::PartialMatch(s, r, &g);\n'
            '            found += re2::RE2::GlobalReplace(&s, r, "<\\\\0>");\n        }\n        found += r.ProgramSize() + r.ReverseProgramSize();\n        std::string low, high;\n        found += r.PossibleMatchRange(&low, &high, 5);\n    }\n'
            '    re2::RE2::Set set(re2::RE2::DefaultOptions, re2::RE2::UNANCHORED);\n    for (const char *p : {"foo", "a+b", "z$"}) set.Add(p, nullptr);\n    set.Compile();\n'
            '    std::vector<int> v;\n    for (const char *t : texts) found += set.Match(t, &v) + v.size();\n    std::printf("%d\\n", found);\n    return 0;\n}\n'},
    "expat": {"expat/lib/expat_config.h": "#pragma once\n"},
    "jansson": {"android/jansson_private_config.h": "#pragma once\n"},
    "snappy": {"driver.cc": '#include "snappy.h"\n#include <fstream>\n#include <iostream>\n#include <iterator>\nint main(int, char **v) {\n'
               '    std::ifstream f(v[1]);\n    std::string s{std::istreambuf_iterator<char>(f), {}}, z, u;\n    snappy::Compress(s.data(), s.size(), &z);\n'
               '    return !snappy::Uncompress(z.data(), z.size(), &u) || u != s;\n}\n',
               "config.h": "", "snappy-stubs-public.h": '#pragma once\n#include <cstddef>\n#include <sys/uio.h>\n#define SNAPPY_MAJOR 1\n#define SNAPPY_MINOR 1\n'
               "#define SNAPPY_PATCHLEVEL 9\n#define SNAPPY_VERSION 0x010109\nnamespace snappy { using ::iovec; }\n"},
}
truth.TIMEOUT = 3600  # of one unit of the largest C++ programs
BY_REASON = {}
BUILDS = {"static": ("gcc", "-O0 -static"), "pie": ("gcc", "-O0"), "lto": ("gcc", "-O0 -flto"), "shared": ("gcc", "-O0 -fPIC"),
          "sections": ("gcc", "-O0 -ffunction-sections -Wl,--gc-sections"), "dwarf4": ("gcc", "-O0 -gdwarf-4"), "clang": ("clang", "-O0 -static"),
          "clang-pie": ("clang", "-O0 -fPIE -pie"), "clang-shared": ("clang", "-O0 -fPIC")}


def chosen(place, patterns):
    found = []
    for pattern in patterns.split():
        if pattern.startswith("!"):
            found = [path for path in found if path != pattern[1:]]
        elif pattern.startswith("-"):
            found = [path for path in found if pattern[1:] not in path]
        else:
            found += sorted(os.path.relpath(path, place) for path in glob.glob(os.path.join(place, pattern)))
    return found


def build(place, sources, compilers, flags, counted, out):
    """Compiles each source in the folder itself, so that both builds have the same names of files. `counted`: options that count.
    With -fPIC, all objects but the one with main are a library."""
    def compile_one(source):
        target = os.path.join(out, source.replace("/", "__") + ".o")
        truth.run(*compilers[not source.endswith(".c")], "-g", "-w", "-fsigned-char", *flags, *counted, "-c", source, "-o", target, cwd=place)
        return target

    os.makedirs(os.path.join(place, out))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        objects = list(pool.map(compile_one, sources))
    link = [*compilers[any(not source.endswith(".c") for source in sources)], "-g", "-w", *flags]
    counter = ["--coverage"] if "--coverage" in counted else []
    if link[0].startswith("clang"):
        link.append("-fuse-ld=lld-19")
        counter = ["-Wl,-u,__llvm_profile_runtime", out + "/write_again.o", profile_library()] if counted else []
        if counted:
            with open(os.path.join(place, out, "write_again.c"), "w", encoding="utf-8") as file:
                file.write(WRITE_AGAIN)
            truth.run(*compilers[0], "-w", *flags, "-c", out + "/write_again.c", "-o", out + "/write_again.o", cwd=place)
    if "-fPIC" in flags:
        library = [path for path in objects if b" T main\n" not in truth.run("riscv64-linux-gnu-nm", path, cwd=place)]
        truth.run(*link, "-shared", *library, "-o", out + "/libcompared.so", *counter, cwd=place)
        objects = [*(path for path in objects if path not in library), out + "/libcompared.so", "-Wl,-rpath,$ORIGIN"]
    truth.run(*link, *objects, "-o", out + "/program", *counter, "-lm", "-ldl", "-lpthread", cwd=place)


@functools.cache
def profile_library():
    """The library that counts what clang has instrumented, for RISC-V."""
    root = truth.run(os.path.join(TOOLS, "debian_root"), "--suite", "trixie", "--arch", "riscv64", "--no-depends", "libclang-rt-19-dev", cwd=TOOLS).decode().strip()
    return root + "/usr/lib/llvm-19/lib/clang/19/lib/linux/libclang_rt.profile-riscv64.a"


# Writes the counts once more after the destructors of static objects, which run after llvm's own function
WRITE_AGAIN = """#include <stdio.h>
void lprofSetProfileDumped(unsigned);
int __llvm_profile_write_file(void);
const char *__llvm_profile_get_filename(void);
__attribute__((destructor)) static void write_again(void) {
    remove(__llvm_profile_get_filename());
    lprofSetProfileDumped(0);
    __llvm_profile_write_file();
}
"""


def from_llvm_cov(place, shared):
    """Lines and functions with what explains them, and the decisions of each source."""
    truth.run("llvm-profdata-19", "merge", *glob.glob(os.path.join(place, "*.profraw")), "-o", "program.profdata", cwd=place)
    counted = ["-instr-profile=program.profdata", "gcovd/program", *(["-object", "gcovd/libcompared.so"] if shared else [])]
    lines = llvm_truth.read_lcov(truth.run("llvm-cov-19", "export", "-format=lcov", *counted, cwd=place).decode())
    llvm_truth.read_regions(lines, json.loads(truth.run("llvm-cov-19", "export", "-format=text", *counted, cwd=place)))
    shown = truth.run("llvm-cov-19", "show", "-show-mcdc", *counted, cwd=place).decode(errors="replace")
    parts = re.split(r"(?m)^(/[^\n|]*\.\w+):$", shown)
    return lines, {path: mcdc.parse_llvm_cov(body) for path, body in zip(parts[1::2], parts[2::2]) if not path.startswith("/usr")}


def in_order(decisions):
    """Whether llvm-cov has vectors that can be compared: in macros the conditions have any order, and many have too many."""
    return all(one["vectors"] and len(one["conditions"]) < 7 for one in decisions)


def decisions(ntrace, place, theirs):
    """Numbers of decisions that both have, that are not determinable, and that differ; and texts for these."""
    found = json.loads(truth.run(ntrace, "coverage", "--level", "mcdc", "--format", "json", "plain.ntrace", cwd=place, status=(0, 1)))["decisions"]
    both, not_known, wrong = 0, 0, []
    for path, expected in theirs.items():
        ours = [one for one in found if path in (os.path.realpath(one["file"]), one.get("spelled", {}).get("file"))]
        expected = {place: decisions for place, decisions in expected.items() if in_order(decisions)}
        equal, undetermined, different = mcdc.compare(expected, {"decisions": ours})
        places = mcdc.by_place({"decisions": ours})
        stored_results = [one for one in different if one[1] != "missing" and
                          stored.possible(mcdc.vectors_of(places[one[0]], True), {values: result for of in expected[one[0]] for values, result in of["vectors"].items()})]
        different = [one for one in different if one not in stored_results]
        equal += len(stored_results)
        wrong += [f"decision {path}:{one[0]}: {one[1:]}" for one in different if one[1] != "missing"]
        not_known += len(undetermined)
        both += equal + len(undetermined)
    return both + len(wrong), not_known, len(wrong), wrong


def edit(path, old, new):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace(old, new))


def executed_lines(place, command, stdin, lines):
    """The lines, of those given, of which QEMU has executed an instruction: it logs the code that it translates."""
    execute(["qemu-riscv64", "-d", "in_asm,nochain", "-D", "qemu.log", *command], place, stdin)
    with open(os.path.join(place, "qemu.log"), encoding="utf-8", errors="replace") as file:
        translated = {int(found[1], 16) for found in map(re.compile(r"0x([0-9a-f]+):").match, file) if found}
    found, names, number, before = set(), {}, 0, None
    for text in truth.run("llvm-dwarfdump-19", "--debug-line", command[0], cwd=place).decode(errors="replace").splitlines():
        index, name, row = re.match(r"file_names\[ *(\d+)\]:", text), re.match(r'\s+name: "(.*)"', text), re.match(r"0x([0-9a-f]+) +(\d+) +\d+ +(\d+) ", text)
        if text.startswith("debug_line["):
            names, before = {}, None
        elif index:
            number = int(index[1])
        elif name:
            names.setdefault(number, os.path.basename(name[1]))
        elif row:
            if before and before[1] in lines and any(address in translated for address in range(before[0], int(row[1], 16), 2)):
                found.add(before[1])
            before = None if "end_sequence" in text else (int(row[1], 16), (names.get(int(row[3])), int(row[2])))
    return found


def several(place, sources):
    """Names of sources and headers of which there are several in a folder: the results have no folders."""
    names = [name for _, _, files in os.walk(place) for name in files]
    compiled = [os.path.basename(source) for source in sources]
    return {name for name in names if names.count(name) > 1 and compiled.count(name) != 1}


def execute(command, place, stdin):
    with open(os.path.join(place, stdin) if stdin else os.devnull, "rb") as file:
        done = subprocess.run(command, cwd=place, stdin=file, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT, timeout=600, check=False)
    return done


def compare(ntrace, sources_folder, program, name, scratch):
    """Returns the number of lines that both list, of equal counts, of lines with other counts, of lines that only one calls executed,
    of lines that one lists alone, of functions compared and different, of decisions compared, not determinable and different; and texts."""
    folder, patterns, flags, arguments, stdin = PROGRAMS[program]
    place = os.path.join(scratch, program)
    shutil.copytree(glob.glob(os.path.join(sources_folder, folder))[0], place)
    for path, text in {**FILES, **DRIVERS.get(program, {})}.items():
        with open(os.path.join(place, path), "w", encoding="utf-8") as file:
            file.write(text)
    if program == "tinyxml2":
        os.makedirs(os.path.join(place, "resources", "out"), exist_ok=True)
    if "googletest/googletest" in patterns:
        shutil.copytree(glob.glob(os.path.join(sources_folder, "googletest-*"))[0], os.path.join(place, "googletest"))
    compiler, options = BUILDS[name]
    if program == "re2":  # std::call_once of a static program needs all of libpthread
        options = options.replace(" -static", "")
    sources = chosen(place, patterns)
    if program == "lua":  # else tables and strings are hashed by their addresses, which differ
        edit(os.path.join(place, "src", "llimits.h"), "((unsigned int)((size_t)(p) & UINT_MAX))", "((void)(p), 7u)")
    if program == "jansson":  # else hashes are random, or those of addresses
        edit(os.path.join(place, "src", "hashtable_seed.c"), "static uint32_t generate_seed() {", "static uint32_t generate_seed() { return 5;")
        edit(os.path.join(place, "src", "value.c"), 'size_t key_len = snprintf(key, key_size, "%p", json)',
             'static size_t base; base = base ? base : (size_t)json; size_t key_len = snprintf(key, key_size, "%zd", (size_t)json - base)')
    flags = [*flags.split(), *options.split()]
    by_clang = compiler == "clang"
    build(place, sources, COMPILERS[compiler], flags, [*llvm_truth.INSTRUMENT, "-fcoverage-mcdc"] if by_clang else ["--coverage"], "gcovd")
    build(place, sources, COMPILERS[compiler], flags, [], "plain")
    theirs_ran = execute(["qemu-riscv64", "-0", "plain/program", "gcovd/program", *arguments], place, stdin)  # lua hashes the name
    ours_ran = execute([ntrace, "run", "-q", "-o", "plain.ntrace", "--", "plain/program", *arguments], place, stdin)
    if theirs_ran.returncode != ours_ran.returncode:
        raise RuntimeError(f"status {ours_ran.returncode}, instrumented {theirs_ran.returncode}: {ours_ran.stderr[-500:]}")
    theirs, their_decisions = from_llvm_cov(place, "-fPIC" in flags) if by_clang else (truth.gcov(place), {})
    of_one_name = several(place, sources)
    for key in [key for key in theirs.lines if key[0] in of_one_name]:
        del theirs.lines[key]
    ours = truth.traced(ntrace, "plain.ntrace", place, files={name for name, _ in theirs.lines})
    for key in [key for key in theirs.lines if key not in ours.lines and not theirs.lines[key] and ("gc-sections" in options or by_clang)]:
        del theirs.lines[key]
    text_of = truth.texts_below(place, sources)
    both, counts, executed, alone = truth.compare(text_of, ours, theirs)
    names = sorted(set(ours.functions) & set(theirs.functions))
    functions = [name for name in names if ours.functions[name] != theirs.functions[name]]
    if by_clang:
        llvm_truth.read_functions(theirs, json.loads(truth.run(ntrace, "coverage", "--to", "gcovr-json", "plain.ntrace", cwd=place)), ours.lines)
    reasons = {key: llvm_truth.reason(text_of, theirs, key) if by_clang else truth.reason(text_of, key) for key, _, _ in counts}
    for key, _, _ in counts:
        BY_REASON[reasons[key]] = BY_REASON.get(reasons[key], 0) + 1
    rows = [f"{program} {name}: {key[0]}:{key[1]}: {a}, expected {b}: {reasons.get(key, 'in one list only')}: {text_of(key).strip()[:90]}"
            for key, a, b in counts + (executed if by_clang else alone)]
    if by_clang and executed and "-static" in options:  # otherwise QEMU's log has other addresses than the file
        ran = executed_lines(place, ["plain/program", *arguments], stdin, {key for key, _, _ in executed})
        right = [row for row in executed if (row[1] > 0) == (row[0] in ran)]
        rows += [f"{program} {name}: {len(right)} of {len(executed)} lines executed in one only are as QEMU's log says"]
    open_counts = sum(1 for key, _, _ in counts if reasons[key] is None)
    sums = decisions(ntrace, place, their_decisions) if by_clang else (0, 0, 0, [])
    rows += [f"{program} {name}: function {function}: {ours.functions[function]}, expected {theirs.functions[function]}" for function in functions] + sums[3]
    return [both, len(counts), open_counts, len(executed), len(alone), len(names), len(functions), *sums[:3]], rows


def main():
    if len(sys.argv) < 3 or not os.path.isdir(sys.argv[2]):
        sys.exit("coverage_compare.py: expected NTRACE and a folder of unpacked sources (make coverage-compare SOURCES=FOLDER)")
    arguments = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    builds = [argument[9:].split(",") for argument in sys.argv if argument.startswith("--builds=")]
    ntrace, sources = os.path.abspath(arguments[0]), arguments[1]
    sums = [0] * 10
    print("| program | build | lines | other counts | by no rule | executed in one only | in one list only | functions | other counts | decisions | not determinable | other vectors |\n"
          "|---|---|---|---|---|---|---|---|---|---|---|---|", flush=True)
    for program in arguments[2:] or PROGRAMS:
        for name in builds[0] if builds else BUILDS:
            with tempfile.TemporaryDirectory() as scratch:
                try:
                    row, texts = compare(ntrace, sources, program, name, scratch)
                except (RuntimeError, subprocess.SubprocessError, IndexError, OSError) as error:
                    print(f"| {program} | {name} | {str(error).splitlines()[0][:120]} |", flush=True)
                    print(str(error)[:3000], file=sys.stderr)
                    continue
            print(f"| {program} | {name} | {' | '.join(map(str, row))} |", flush=True)
            sums = [a + b for a, b in zip(sums, row)]
            print("\n".join(texts), file=sys.stderr, flush=True)
    print(f"| all | | {' | '.join(map(str, sums))} |")
    print("other counts by rule: " + ", ".join(f"{rule}: {count}" for rule, count in sorted(BY_REASON.items(), key=lambda item: -item[1])))
    return sums[2] * 1000 > sums[0]


if __name__ == "__main__":
    sys.exit(main())

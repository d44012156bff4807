#!/usr/bin/env python3
"""Share of decisions of five real programs that is not determinable, by reason, compared with llvm-cov decision by decision.

usage: decision_share.py NTRACE SOURCES [LEVEL...]         NTRACE_TEST_KEEP=FOLDER: traces are kept there, and not made again;
                                                           NTRACE_TEST_DATA=1: with loads and stores (run --data)

SOURCES is a folder in which the archives *.orig.tar.* of Debian's source packages bzip2, cjson, zlib, lua5.4 and tinyxml2 are unpacked.
LEVEL: -O0, -Og (default), "-Og --param=logical-op-non-short-circuit=0", "clang-19 -O0", "gcc-14 -Og" (C only; see condition_coverage of mcdc.py), ... The same sources run with the same inputs, instrumented by clang-19 on this machine and compiled by
gcc for RISC-V under ntrace run. The exit status is 1 when a vector or a pair differs. `make test` does not run this.
"""
import collections
import glob
import os
import re
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(sys.path[0], ".."))
import mcdc

CJSON = r"""#include <cJSON.h>
#include <cJSON_Utils.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
    static const char *texts[] = {"{\"a\":[1,2.5,-3e10,true,false,null,\"x\\u00e4\\ud834\\udd1e\\n\"],\"b\":{\"c\":{}}}", "[1,", "{\"a\" 1}", "\"\\q\"", "nul", "[[[[]]]]",
        "/* c */ {\"k\":\"v\"} // end", "\xEF\xBB\xBF[0]", "{\"a\":1,\"A\":2}", "\"\\ud834\"", "-", "  [ 1 , \t2 ]  ", "{}", "[1e400]", "\"tab\\tquote\\\"slash\\/\""};
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
        char copy[200], *out;
        cJSON *first = cJSON_Parse(texts[i]), *again;
        strcpy(copy, texts[i]);
        cJSON_Minify(copy);
        again = cJSON_Parse(copy);
        printf("%d %d\n", cJSON_Compare(first, again, 1), cJSON_Compare(first, cJSON_Duplicate(first, i & 1), 0));
        if ((out = cJSON_Print(first))) puts(out);
        if ((out = cJSON_PrintBuffered(again, 3, 0))) puts(out);
        char fixed[40];
        printf("%d\n", first ? cJSON_PrintPreallocated(first, fixed, sizeof fixed, i & 1) : 0);
        cJSON *patch = cJSONUtils_GeneratePatches(first, cJSON_Parse(texts[(i + 8) % 9]));
        if (patch && (out = cJSON_Print(patch))) puts(out);
        if (first && patch) printf("%d\n", cJSONUtils_ApplyPatches(first, patch));
        cJSON *item = cJSONUtils_GetPointer(first, "/a/2");
        if (item) printf("%g %s\n", item->valuedouble, cJSONUtils_FindPointerFromObjectTo(first, item));
        cJSONUtils_SortObject(first);
        cJSON *merged = cJSONUtils_MergePatch(cJSON_Duplicate(again, 1), first);
        if (merged && (out = cJSON_PrintUnformatted(merged))) puts(out);
        if (cJSON_IsObject(again)) { cJSON_AddNumberToObject(again, "n", i); cJSON_DeleteItemFromObject(again, "a"); cJSON_ReplaceItemInObject(again, "n", cJSON_CreateString("s")); }
        if (cJSON_IsArray(again)) { cJSON_InsertItemInArray(again, 0, cJSON_CreateTrue()); cJSON_DetachItemFromArray(again, 1); cJSON_DeleteItemFromArray(again, 9); }
        cJSON_Delete(first);
        cJSON_Delete(again);
    }
    return 0;
}
"""
LUA = r"""local t = {}
for i = 1, 300 do t[i] = (i * 7919) % 101 end
table.sort(t); table.sort(t, function(a, b) return a > b end)
print(#t, t[1], table.concat(t, ",", 1, 9), select("#", table.unpack(t, 1, 20)))
for w, n in ("key=1, other = 22; x"):gmatch("(%a+)%s*=%s*(%d+)") do print(w, tonumber(n) + 0.5) end
print(("hello world"):find("o w"), ("a.b"):gsub("%.", "-"), ("%5.2f|%q|%x"):format(3.14159, "q\n", 255), ("x"):rep(5, ","))
local m = setmetatable({}, {__index = function(_, k) return k .. "!" end, __add = function() return 1 end, __lt = function() return true end,
    __call = function(_, a) return a end, __close = function() end, __len = function() return 7 end, __concat = function() return "c" end})
print(m.foo, m + 1, m < m, m(3), #m, m .. "x")
local co = coroutine.wrap(function(a) for i = 1, 3 do a = coroutine.yield(a + i) end return "end" end)
print(co(1), co(2), co(3), co(4), pcall(co))
print(pcall(error, {1}), pcall(function() local x = nil; return x.y end), select(2, pcall(error, "m", 2)))
print(1 // 0.0, -7 // 2, -7 % 3, 7.5 % -2, 1 << 63, 2 ^ 0.5, 10 // 3, math.type(3.0), math.tointeger("8"), "10" + 5, 0x1p4, 1e308 * 10)
goto done
print("never")
::done::
for i = 10, 1, -3 do io.write(i, " ") end
for i = 1.0, 2, 0.25 do io.write(i, " ") end
local a <const>, b <close> = 3, m
repeat local z = (z or 0) + 1 until z > 0
print(load("return 1 +")) print(load("x ="), load("for i = 1 do end"), load("break"), load("goto nowhere"), load("local x <const> = 1; x = 2"))
print(string.pack("<i4z", 7, "s"):byte(1, -1)) print(utf8.char(228, 8364, 0x10ffff), utf8.len("\xff"), #utf8.charpattern)
print(os.time({year = 2020, month = 1, day = 1, hour = 12}) > 0, tostring(nil), next({}), rawequal(t, t), type(print))
local long = {} for i = 1, 3000 do long["k" .. i] = i end for i = 1, 3000, 2 do long["k" .. i] = nil end
local weak = setmetatable({}, {__mode = "k"}) weak[{}] = 1 collectgarbage() collectgarbage("generational") collectgarbage("incremental") print(next(weak))
print(string.format("%-5s|%05d|%+.3e|%i", "a", 42, 12345.678, 3), ("abc"):sub(-2), ("x"):byte(), ("%bxy"):len(), ("f(a(b)c)"):match("%b()"), ("THE (quick) fox"):find("%((%a+)%)"))
print(tostring(1e15), 2^53, math.maxinteger + 1 == math.mininteger, 5 // 0.3, math.ult(1, -1), "a" < "b", 1 < 1.5, pcall(function() return 1 < "x" end))
"""


def read(folder, name):
    return sorted(glob.glob(os.path.join(folder, name)))


def programs(sources, folder):
    """Name, C++, sources, flags, and arguments of each call."""
    def at(name):
        found = read(sources, name)
        if not found:
            sys.exit(f"{sources}: no {name}")
        return found[-1]

    for name, text in (("cjson_main.c", CJSON), ("work.lua", LUA)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    bzip2, cjson, zlib, lua, tiny = (at(name + "-*") for name in ("bzip2", "cJSON", "zlib", "lua", "tinyxml2"))
    os.makedirs(os.path.join(folder, "resources", "out"), exist_ok=True)
    for name in read(tiny, "resources/*.xml"):
        with open(name, "rb") as source, open(os.path.join(folder, "resources", os.path.basename(name)), "wb") as copy:
            copy.write(source.read())
    library = [name for name in read(zlib, "*.c") if os.path.basename(name) not in ("minigzip.c", "example.c")]
    yield ("bzip2", False, [os.path.join(bzip2, name + ".c") for name in "blocksort bzip2 bzlib compress crctable decompress huffman randtable".split()],
           ["-DBZ_UNIX=1"], [["-kf", "-v", "work.lua"], ["-t", "-v", "work.lua.bz2"], ["-dc", "work.lua.bz2"], ["-1", "-kf", "zeros"], ["-dc", "zeros.bz2"], ["-t", "cjson_main.c"], ["--help"]])
    yield "cJSON", False, [os.path.join(cjson, "cJSON.c"), os.path.join(cjson, "cJSON_Utils.c"), os.path.join(folder, "cjson_main.c")], ["-I" + cjson], [[]]
    yield "zlib", False, [*library, os.path.join(zlib, "test", "example.c")], ["-I" + zlib, "-D_GNU_SOURCE", "-DHAVE_UNISTD_H"], [["work.gz"]]
    yield ("lua", False, [name for name in read(lua, "src/*.c") if not name.endswith("luac.c")], ["-DLUA_USE_POSIX", "-lm"], [["work.lua"], ["-e", "print(1)", "-v"], ["nowhere.lua"]])
    yield "tinyxml2", True, [os.path.join(tiny, "tinyxml2.cpp"), os.path.join(tiny, "xmltest.cpp")], ["-I" + tiny], [[]]


def run(bench, calls, command, env=None):
    """Programs may end with an error: their arguments are wrong on purpose."""
    for name in read(bench.folder, "*.bz2") + read(bench.folder, "work.gz") + read(bench.folder, "resources/out/*"):
        os.remove(name)
    for number, arguments in enumerate(calls):
        subprocess.run([*command(number), *arguments], cwd=bench.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                       env=dict(os.environ, **(env(number) if env else {})), check=False, timeout=600)


def truth_of(bench, name, cpp, sources, flags, calls):
    compiler, native = "clang++-19" if cpp else "clang-19", f"native-{name}"
    if not os.path.exists(os.path.join(bench.folder, native + ".profdata")):
        bench.run(compiler, *mcdc.CLANG[1:], *sources, *flags, "-o", native)
        run(bench, calls, lambda _: ["./" + native], lambda number: {"LLVM_PROFILE_FILE": f"{native}-{number}.profraw"})
        bench.run("llvm-profdata-19", "merge", *(f"{native}-{number}.profraw" for number in range(len(calls))), "-o", native + ".profdata")
    shown = bench.run("llvm-cov-19", "show", "-show-mcdc", f"-instr-profile={native}.profdata", native)
    parts = re.split(r"(?m)^(/[^\n|]*\.(?:[chl]|cpp)):$", shown)
    if len(parts) == 1:
        parts = ["", sources[0], shown]
    return {os.path.realpath(name): mcdc.parse_llvm_cov(body) for name, body in zip(parts[1::2], parts[2::2])}


def build_with_gcc_14(bench, level, sources, flags, program):
    """gcc 14 and the assembler of Debian for RISC-V under QEMU, with the headers and LLVM's linker of this machine: Debian 12's assembler and linker do
    not take its output."""
    root = mcdc.debian("gcc 14", "binutils-riscv64-linux-gnu")
    folders = (root + "/usr/lib/gcc/riscv64-linux-gnu/14/include", "/usr/riscv64-linux-gnu/include")
    objects, compiled = [], [flag for flag in flags if not flag.startswith("-l")]
    for number, source in enumerate(sources):
        objects.append(f"{program}-{number}.o")
        bench.run("qemu-riscv64", "-L", root, root + mcdc.CC1_14, "-quiet", "-mabi=lp64d", "-march=rv64gc", "-g", "-w", "-fsigned-char", *level,
                  *(word for name in folders for word in ("-isystem", name)), *compiled, source, "-o", program + ".s")
        bench.run("qemu-riscv64", "-L", root, root + "/usr/bin/riscv64-linux-gnu-as", program + ".s", "-o", objects[-1])
    return bench.run("clang-19", "--target=riscv64-linux-gnu", "-fuse-ld=lld", "-static", *objects, *(flag for flag in flags if flag.startswith("-l")), "-o", program)


def build(bench, level, cpp, sources, flags, program):
    chosen, *level = level.split() if not level.startswith("-") else ("gcc", *level.split())
    if chosen == "gcc-14":
        return build_with_gcc_14(bench, level, sources, flags, program)
    compiler = ["riscv64-linux-gnu-g++" if cpp else "riscv64-linux-gnu-gcc"]
    if chosen != "gcc":
        compiler = [chosen.replace("clang", "clang++") if cpp else chosen, "--target=riscv64-linux-gnu", "-mno-relax", "-fuse-ld=lld"]
    return bench.run(*compiler, "-g", "-w", "-static", "-fsigned-char", *level, *sources, *flags, "-o", program)


def share(bench, level, name, cpp, sources, flags, calls, truth, reasons):
    program = name + re.sub(r"[^-\w]", "", level)
    data = ["--data"] if os.environ.get("NTRACE_TEST_DATA") else []
    if not os.path.exists(os.path.join(bench.folder, program)):
        build(bench, level, cpp, sources, flags, program)
    traces = [f"{program}-{number}{''.join(data)}.ntrace" for number in range(len(calls))]
    if not os.path.exists(os.path.join(bench.folder, traces[-1])):
        run(bench, calls, lambda number: [bench.ntrace, "run", *data, "-o", traces[number], "--", "./" + program])
    found = bench.mcdc(*traces)["decisions"]
    total, agreed, wrong = 0, 0, []
    for path, decisions in truth.items():
        ours = [decision for decision in found if path in (os.path.realpath(decision["file"]), decision.get("spelled", {}).get("file"))]
        equal, _, different = mcdc.compare(decisions, {"decisions": ours})
        places = mcdc.by_place({"decisions": ours})
        total, agreed = total + len(decisions), agreed + equal
        wrong += [(path, *one) for one in different if one[1] != "missing"]
        total -= sum(one[1] == "missing" for one in different) # macros that expand macros: the two name their places differently
        for place in decisions:
            for decision in [one for one in places.get(place, []) if one["state"] == "not-determinable"][:1]:
                reasons[decision["reason"]] += 1
                if os.environ.get("NTRACE_TEST_LIST"):
                    print(f"  {os.path.basename(path)}:{decision['line']}: {decision['text'][:100]}: {decision['reason'][:60]}")
    open_ = total - agreed - len(wrong)
    print(f"{level} {name}: {open_} of {total} decisions are not determinable ({100 * open_ / max(total, 1):.0f} %), {len(wrong)} differ")
    for one in wrong:
        print("  differs:", one)
    return total, open_, len(wrong)


def main():
    reasons = collections.defaultdict(collections.Counter)
    sums = collections.defaultdict(lambda: [0, 0, 0])
    with tempfile.TemporaryDirectory() as temporary:
        folder = os.environ.get("NTRACE_TEST_KEEP", temporary)
        bench = mcdc.Bench(os.path.abspath(sys.argv[1]), folder)
        with open(os.path.join(folder, "zeros"), "wb") as file:
            file.write(bytes(20000) + b"ab" * 9000)
        for name, *program in programs(os.path.abspath(sys.argv[2]), folder):
            truth = truth_of(bench, name, *program)
            cpp = program[0]
            for level in sys.argv[3:] or ["-Og"]:
                if cpp and level.startswith("gcc-14"):
                    continue # C only
                for i, number in enumerate(share(bench, level, name, *program, truth, reasons[level])):
                    sums[level][i] += number
    for level, (total, open_, wrong) in sums.items():
        print(f"{level}: {open_} of {total} ({100 * open_ / max(total, 1):.1f} %)")
        for reason, count in reasons[level].most_common():
            print(f"  {count} {100 * count / total:.1f} % {reason}")
    return any(wrong for _, _, wrong in sums.values())


if __name__ == "__main__":
    sys.exit(main())

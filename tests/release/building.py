#!/usr/bin/env python3
"""A small program is built against the library in each way that the manual names: pkg-config, CMake, Meson, a Meson subproject.

usage: building.py NTRACE BUILD

The installed prefix is a folder of its own, so nothing of this machine's /usr is meant. Expected output: the messages were written by
hand from the tables of N-Trace 1.0 chapter 7.
"""
import fnmatch
import functools
import glob
import json
import os
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import ROOT, Run, case, check, equal, main, matches, need, note, scratch, write
from reader_program import MESSAGES, PROGRAM

BUILD = os.path.abspath(sys.argv[2])
TOOLS_PROGRAM = r"""
#include <ntrace/tools.h>
#include <stdio.h>

int main(void) {
    puts(ntr_check_rule_at(0) && ntr_exporter_name(ntr_exporter_at(0)) ? ntr_version_text() : "nothing");
    return 0;
}
"""
CMAKE = """cmake_minimum_required(VERSION 3.18)
project(user C)
find_package(ntrace {request} REQUIRED COMPONENTS tools)
add_executable(messages messages.c)
target_link_libraries(messages PRIVATE ntrace::ntrace)
add_executable(tools bundle.c)
target_link_libraries(tools PRIVATE ntrace::tools)
"""
MESON = """project('user', 'c')
executable('messages', 'messages.c', dependencies: dependency('libntrace'{fallback}))
{tools}
"""


def run(*command, status=0, cwd=None, env=None):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ, **(env or {})),
                          cwd=cwd or scratch(), check=False)
    check((done.returncode != 0) == (status != 0), f"{' '.join(command)}: status {done.returncode}: {done.stdout[-1000:]}{done.stderr[-1000:]}")
    return done.stdout if not status else done.stdout + done.stderr


@functools.lru_cache(None)
def configured(name):
    rows = json.loads(run("meson", "introspect", "--buildoptions", BUILD))
    return next(row["value"] for row in rows if row["name"] == name)


def tree():
    """The root of the installation; made on first use."""
    folder = os.path.join(scratch(), "root")
    if not os.path.exists(folder):
        run("meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", folder)
    return folder


def prefix():
    return tree() + configured("prefix")


def libraries():
    return os.path.join(prefix(), configured("libdir"))


def version():
    return json.loads(run("meson", "introspect", "--projectinfo", os.path.join(ROOT, "meson.build")))["version"]


def project(name, **files):
    os.makedirs(os.path.join(scratch(), name))
    for file, text in {"messages.c": PROGRAM, "bundle.c": TOOLS_PROGRAM, **{key.replace("_", ".", 1): value for key, value in files.items()}}.items():
        write(os.path.join(name, file), text.encode())
    return os.path.join(scratch(), name)


def programs(folder, names=("messages", "tools")):
    expected = {"messages": MESSAGES, "tools": version() + "\n", "bundle": version() + "\n"}
    for name in names:
        equal(run(os.path.join(folder, name), env={"LD_LIBRARY_PATH": libraries()}), expected[name], name)


def with_pkg_config():
    return {"PKG_CONFIG_PATH": os.path.join(libraries(), "pkgconfig"), "PKG_CONFIG_SYSROOT_DIR": tree()}


@case("pkg-config: flags for both libraries; programs build and run")
def pkg_config():
    folder = project("pkgconfig")
    for name, library in ("messages", "libntrace"), ("bundle", "libntrace-tools"):
        flags = run(need("pkg-config"), "--cflags", "--libs", library, env=with_pkg_config()).split()
        run("cc", "-Wall", "-Werror", "-o", name, name + ".c", *flags, cwd=folder)
    programs(folder, ("messages", "bundle"))


@case("CMake: find_package(ntrace) defines ntrace::ntrace and ntrace::tools; programs build and run")
def cmake():
    folder = project("cmake", CMakeLists_txt=CMAKE.format(request=version()))
    need("cmake")
    run("cmake", "-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={prefix()}", cwd=folder)
    run("cmake", "--build", "build", cwd=folder)
    programs(os.path.join(folder, "build"))
    matches(r"\(NEEDED\).*libntrace\.so\.\d+\]", run("readelf", "-d", "build/messages", cwd=folder), "the soname, not a path")


@case("CMake: a later version, another major number: refused with both versions", "0.{next}", long=True)
@case("CMake: a version after 1.0 is refused", "7.0")
def cmake_version(request):
    need("cmake")
    request = request.format(next=int(version().split(".")[1]) + 1)
    folder = project("cmake-" + request, CMakeLists_txt=CMAKE.format(request=request))
    said = run("cmake", "-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={prefix()}", cwd=folder, status=1)
    matches(rf'(?s)requested\s+version\s+"{request}".*version: {version()}', said, "what CMake says")


@case("Meson: dependency() finds both libraries; programs build and run")
def meson_dependency():
    folder = project("meson", meson_build=MESON.format(fallback="", tools="executable('tools', 'bundle.c', dependencies: dependency('libntrace-tools'))"))
    run("meson", "setup", "build", cwd=folder, env=with_pkg_config())
    run("ninja", "-C", "build", cwd=folder)
    programs(os.path.join(folder, "build"))


@case("Meson subproject: dependency() builds libntrace alone", "shared", ["-Dntrace:default_library=shared"])
@case("the same, linked statically", "static", ["-Dntrace:default_library=static"], long=True)
def subproject(name, options):
    folder = project("sub-" + name, meson_build=MESON.format(fallback=", fallback: ['ntrace', 'libntrace_dep']", tools=""))
    os.mkdir(os.path.join(folder, "subprojects"))
    os.symlink(ROOT, os.path.join(folder, "subprojects", "ntrace"))
    run("meson", "setup", "build", "--wrap-mode=forcefallback", *options, cwd=folder)
    rows = json.loads(run("meson", "introspect", "--targets", "build", cwd=folder))
    built = [row for row in rows if row["build_by_default"]]
    equal([row["name"] for row in built if row["type"] == "executable"], ["messages"], "programs")
    check(not any(name in row["name"] for row in built for name in ("tools", "test", "qemu", "dpi")), f"targets: {[row['name'] for row in built]}")
    steps = run("ninja", "-C", "build", "-n", cwd=folder)
    note(f"{steps.count(chr(10))} steps")
    check(steps.count("\n") < 200, "steps of the build")
    run("ninja", "-C", "build", "messages", cwd=folder)
    equal(run(os.path.join(folder, "build/messages")), MESSAGES, "output")


@case("Meson subproject with tools=enabled provides libntrace-tools (configured, not built)")
def subproject_tools():
    tools = "executable('tools', 'bundle.c', dependencies: dependency('libntrace-tools', fallback: ['ntrace', 'ntrace_tools_dep'], default_options: ['tools=enabled']))"
    folder = project("sub-tools", meson_build=MESON.format(fallback=", fallback: ['ntrace', 'libntrace_dep'], default_options: ['tools=enabled']", tools=tools))
    os.mkdir(os.path.join(folder, "subprojects"))
    os.symlink(ROOT, os.path.join(folder, "subprojects", "ntrace"))
    run("meson", "setup", "build", "--wrap-mode=forcefallback", cwd=folder)
    rows = json.loads(run("meson", "introspect", "--targets", "build", cwd=folder))
    names = {row["name"] for row in rows if row["build_by_default"]}
    check({"tools", "ntrace-tools"} <= names and "ntrace-qemu-4" not in names, f"targets: {sorted(names)}")


@case("licence, manual, schemas and examples are installed; an example builds from where it is")
def documents():
    doc = os.path.join(prefix(), "share/doc/ntrace")
    for name in "LICENSE", "README.md", "CHANGELOG.md", "SECURITY.md", "docs/README.md", "examples/decode.c", "python/README.md", "python/examples/notebook.ipynb":
        check(os.path.exists(os.path.join(doc, name)), f"{name} is not installed")
    schemas = glob.glob(os.path.join(prefix(), "share/ntrace/schemas/*.schema.json"))
    equal(sorted(map(os.path.basename, schemas)), sorted(os.listdir(os.path.join(ROOT, "docs/schemas"))), "schemas")
    matches("expected --user, --sid or --offline", run(os.path.join(prefix(), "share/ntrace/tools/fetch_qemu"), "--unknown", status=1), "fetch_qemu")
    flags = run("pkg-config", "--cflags", "--libs", "libntrace", env=with_pkg_config()).split()
    run("cc", "-o", "encode", os.path.join(doc, "examples/encode.c"), *flags)
    check(run("./encode", status=1, env={"LD_LIBRARY_PATH": libraries()}), "the usage of the example")


@case("make configures again when libraries were installed since, once, and not otherwise")
def configured_again():
    place = os.path.join(scratch(), "configured")
    libraries, build = os.path.join(place, "libraries"), os.path.join(place, "build")
    for name in (libraries, build, os.path.join(place, "bin")):
        os.makedirs(name)
    meson = os.path.join(place, "bin", "meson")
    with open(meson, "w", encoding="ascii") as file:
        file.write(f'#!/bin/sh\necho "$@" >>{place}/calls\n')
    os.chmod(meson, 0o755)
    write(os.path.join(build, "build.ninja"), b"")
    env = dict(os.environ, PATH=os.path.join(place, "bin") + os.pathsep + os.environ["PATH"], NTRACE_LIBRARY_FOLDERS=libraries, PKG_CONFIG_PATH="")

    def calls():
        run(os.path.join(ROOT, "tools", "reconfigure"), build, env=env)
        path = os.path.join(place, "calls")
        return open(path, encoding="ascii").read().splitlines() if os.path.exists(path) else []

    os.utime(libraries, (1e9, 1e9))
    equal(calls(), [], "nothing was installed")
    later = os.path.getmtime(os.path.join(build, "build.ninja")) + 5
    os.utime(libraries, (later, later))
    once = [f"configure --clearcache {build}", f"setup --reconfigure {build}"]
    equal(calls(), once, "installed")
    os.utime(os.path.join(build, "build.ninja"), (later + 1, later + 1))
    equal(calls(), once, "configured since")


@case("each file that is installed belongs to a Debian package (debian/*.install), or debian/rules removes it")
def packaged():
    patterns = ["usr/bin/ntrace-mpi*", "usr/share/man/*"]  # not built there; ntrace.manpages
    for path in glob.glob(os.path.join(ROOT, "debian/*.install")):
        with open(path, encoding="utf-8") as file:
            patterns += [line.split()[0] for line in file if line.strip()]
    with open(os.path.join(ROOT, "debian/rules"), encoding="utf-8") as file:
        patterns += ["usr/share/doc/ntrace/" + name for name in file.read().split("usr/share/doc/ntrace && rm ")[1].split("\n")[0].split()]
    # Debian's folder of libraries has the name of the architecture in it.
    libdir, found, top = configured("libdir"), [], prefix()
    for path in glob.glob(top + "/**", recursive=True):
        name = os.path.relpath(path, top)
        name = "usr/" + (f"lib/any{name[len(libdir):]}" if name.startswith(libdir + "/") else name)
        if not os.path.isdir(path) and not any(fnmatch.fnmatch(name, pattern) or name.startswith(pattern + "/") or
                                               fnmatch.fnmatch(name, pattern + "/*") for pattern in patterns):
            found.append(name)
    equal(sorted(found), [], "files of no package")


@case("libntrace-dev depends on each package whose pkg-config file its own require: --cflags fails without them")
def development_packages():
    need("dpkg")
    with open(os.path.join(ROOT, "debian/control"), encoding="utf-8") as file:
        package = file.read().split("Package: libntrace-dev\n")[1].split("Description:")[0]
    names = run("pkg-config", "--print-requires-private", "libntrace", "libntrace-tools", env=with_pkg_config()).split()
    check("libelf" in names, f"required: {names}")
    for name in names:
        path = os.path.join(run("pkg-config", "--variable=pcfiledir", name).strip(), name + ".pc")
        owner = run("dpkg-query", "-S", path).split(":")[0]
        check(f" {owner},\n" in package, f"{name} is of {owner}, which libntrace-dev does not depend on")


@case("make uninstall removes what make install has installed, and nothing else", long=True)
def uninstall():
    root = os.path.join(scratch(), "second")
    command = ["make", "-s", "-C", ROOT, f"BUILD={BUILD}", f"PREFIX={configured('prefix')}", f"DESTDIR={root}", "-o", f"{BUILD}/build.ninja", "-o", "all"]
    own = os.path.join(root + configured("prefix"), "bin/other")
    os.makedirs(os.path.dirname(own))
    write(own, b"")
    run(*command, "install")
    check(os.path.exists(os.path.join(root + configured("prefix"), "include/ntrace/ntrace.h")), "installed")
    run("meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", tree())  # an installation elsewhere comes between
    run(*command, "uninstall")
    equal([path for path in glob.glob(root + "/**", recursive=True) if not os.path.isdir(path)], [own], "files that stay")


@case("the version is that of meson.build everywhere: command, soname's file, pkg-config, header, Python")
def one_version():
    text = version()
    equal(Run("--version").out.split()[1], text, "command")
    check(os.path.exists(os.path.join(libraries(), f"libntrace.so.{text}")), "file of the library")
    equal(run("pkg-config", "--modversion", "libntrace", env=with_pkg_config()).strip(), text, "pkg-config")
    header = open(os.path.join(prefix(), "include/ntrace/version.h"), encoding="utf-8").read()
    equal([int(header.split(f"NTR_VERSION_{part} ")[1].split()[0]) for part in ("MAJOR", "MINOR", "PATCH")], [int(part) for part in text.split(".")], "header")
    found = subprocess.run(["git", "grep", "-lF", f"'{text}'", "--", "*.build", "*.toml", "*.py", "*.c"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    check(found.stdout.split() in (["meson.build"], []), f"the version is also in {found.stdout}")  # []: not a checkout


if __name__ == "__main__":
    main()

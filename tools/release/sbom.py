"""What a static command contains besides our code: the libraries that the linker has taken, their packages, versions and licences.

components(arch, build, root) reads the map of the linker. document() is CycloneDX 1.5 in JSON.
"""
import hashlib
import json
import os
import re
import sys
import time
import uuid

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from debian_packages import packages_of  # noqa: E402: found by the line above

# archive | Debian package that has it | project | licence (SPDX) | package with the text of the licence
TABLE = """
libjansson.a | libjansson-dev | jansson | MIT | libjansson-dev
libelf.a | libelf-dev | elfutils | GPL-2.0-or-later OR LGPL-3.0-or-later | libelf-dev
libdw.a | libdw-dev | elfutils | GPL-2.0-or-later OR LGPL-3.0-or-later | libdw-dev
libz.a | zlib1g-dev | zlib | Zlib | zlib1g-dev
libzstd.a | libzstd-dev | zstd | BSD-3-Clause OR GPL-2.0-only | libzstd-dev
liblzma.a | liblzma-dev | xz | LicenseRef-public-domain | liblzma-dev
libbz2.a | libbz2-dev | bzip2 | bzip2-1.0.6 | libbz2-1.0
libsqlite3.a | libsqlite3-dev | sqlite | blessing | libsqlite3-dev
libprotobuf-c.a | libprotobuf-c-dev | protobuf-c | BSD-2-Clause | libprotobuf-c-dev
libnettle.a | nettle-dev | nettle | LGPL-3.0-or-later OR GPL-2.0-or-later | nettle-dev
libncursesw.a | libncurses-dev | ncurses | X11-distribute-modifications-variant | libtinfo6
libtinfo.a | libncurses-dev | ncurses | X11-distribute-modifications-variant | libtinfo6
libext2fs.a | libext2fs-dev | libext2fs | LGPL-2.0-only | libext2fs-dev
libcom_err.a | comerr-dev | com_err | MIT | comerr-dev
libc.a | libc6-dev | glibc | LGPL-2.1-or-later | libc6-dev
libm.a | libc6-dev | glibc | LGPL-2.1-or-later | libc6-dev
libm-2.36.a | libc6-dev | glibc | LGPL-2.1-or-later | libc6-dev
libmvec.a | libc6-dev | glibc | LGPL-2.1-or-later | libc6-dev
libgcc.a | libgcc-s1 | gcc | GPL-3.0-or-later WITH GCC-exception-3.1 | gcc-12-base gcc-14-base
libgcc_eh.a | libgcc-s1 | gcc | GPL-3.0-or-later WITH GCC-exception-3.1 | gcc-12-base gcc-14-base
"""
ROWS = {row[0]: row[1:] for row in ([cell.strip() for cell in line.split("|")] for line in TABLE.strip().splitlines())}


def linked(path, root):
    """The names of the archives from which the linker took at least one object, without those of the build itself."""
    build = os.path.dirname(os.path.abspath(path))
    with open(path, encoding="utf-8", errors="replace") as file:
        found = {os.path.normpath(os.path.join(build, name)) for name in re.findall(r"([^\s(:]+\.a)\([^)\s]+\.l?o\)", file.read())}
    found = {name for name in found if not name.startswith(build + os.sep)}
    for name in found:
        if not name.startswith(os.path.abspath(root) + os.sep) and not os.path.basename(name).startswith("libgcc"):
            sys.exit(f"tools/release: {name} was linked, which is a library of this machine and not of {root}")
    return sorted(os.path.basename(name) for name in found)


def versions(root):
    """{package: version} of a folder of tools/debian_root."""
    return {name: fields["Version"] for name, fields in packages_of(root).items() if "Version" in fields}


def licence_text(root, packages):
    for package in packages.split():
        path = os.path.join(root, "usr/share/doc", package, "copyright")
        if os.path.exists(path):
            return path
    sys.exit(f"tools/release: no licence text of {packages} in {root}")


def components(arch, map_file, root):
    """A list of {project, version, licence, package, text, archives}, one for each project."""
    found, have = {}, versions(root)
    archives = linked(map_file, root)
    if "libc.a" not in archives:
        sys.exit(f"tools/release: {map_file} does not list libc.a: not the map of a static command")
    for archive in archives:
        if archive not in ROWS:
            sys.exit(f"tools/release: {archive} was linked; add its row to {__file__}")
        package, project, licence, texts = ROWS[archive]
        part = found.setdefault(project, {"project": project, "version": have[package], "licence": licence, "package": package, "arch": arch,
                                          "text": licence_text(root, texts), "archives": []})
        part["archives"].append(archive)
    return [found[name] for name in sorted(found)]


def licence(text):
    return {"expression": text} if " " in text else {"license": {"name": text} if text.startswith("LicenseRef") else {"id": text}}


def document(version, epoch, parts, files):
    """The bill of materials of a release. parts: {arch: components}; files: {name: (path, [arch])}, the artefacts."""
    own = f"pkg:generic/ntrace@{version}"
    listed, depends, of_arch = [], [], {}
    for arch in sorted(parts):
        for part in parts[arch]:
            reference = f"pkg:deb/debian/{part['package']}@{part['version'].replace(':', '%3A').replace('+', '%2B')}?arch={arch}"
            of_arch.setdefault(arch, []).append(reference)
            listed.append({"type": "library", "bom-ref": reference, "name": part["project"], "version": part["version"],
                           "licenses": [licence(part["licence"])], "purl": reference,
                           "properties": [{"name": "ntrace:archives", "value": " ".join(part["archives"])}]})
    for name, (path, arch) in sorted(files.items()):
        with open(path, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        listed.append({"type": "file", "bom-ref": f"file:{name}", "name": name, "version": version, "licenses": [licence("MIT")],
                       "hashes": [{"alg": "SHA-256", "content": digest}]})
        depends.append({"ref": f"file:{name}", "dependsOn": of_arch.get(arch, [])})
    depends.append({"ref": own, "dependsOn": [f"file:{name}" for name in sorted(files)]})
    depends += [{"ref": reference} for arch in sorted(of_arch) for reference in of_arch[arch]]
    bom = {
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json", "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch)),
            "component": {"type": "application", "bom-ref": own, "name": "ntrace", "version": version, "purl": own,
                          "licenses": [licence("MIT")]}},
        "components": listed, "dependencies": sorted(depends, key=lambda row: row["ref"])}
    bom["serialNumber"] = f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(bom, sort_keys=True))}"
    return json.dumps(bom, indent=1) + "\n"

"""Packs .dwo files into a package (.dwp) with an index of version 5, by DWARF 5 (7.3.5).

The packers of Debian 12 write such packages for no objects of RISC-V; those of version 2 (DWARF 4) they write.
"""
import struct

ID = {".debug_info.dwo": 1, ".debug_abbrev.dwo": 3, ".debug_line.dwo": 4, ".debug_loclists.dwo": 5, ".debug_str_offsets.dwo": 6,
      ".debug_macro.dwo": 7, ".debug_rnglists.dwo": 8}
SPLIT_COMPILE, SPLIT_TYPE = 5, 6


def sections(path):
    """Name and bytes of each section of an ELF file of 64 bits, or of 32 bits."""
    with open(path, "rb") as file:
        data = file.read()
    wide = data[4] == 2
    at, = struct.unpack_from("<Q" if wide else "<I", data, 40 if wide else 32)
    size, count, names = struct.unpack_from("<HHH", data, 58 if wide else 46)
    rows = [struct.unpack_from("<IIQQQQ" if wide else "<IIIIII", data, at + i * size) for i in range(count)]
    table = data[rows[names][4]:rows[names][4] + rows[names][5]]
    return {table[row[0]:table.index(b"\0", row[0])].decode(): data[row[4]:row[4] + row[5]] for row in rows if row[1] != 8}


def units(info):
    """Type, identifier and bytes of each unit."""
    at = 0
    while at < len(info):
        size, version, kind = struct.unpack_from("<IHB", info, at)
        assert version == 5, version
        yield kind, struct.unpack_from("<Q", info, at + 12)[0], info[at:at + 4 + size]
        at += 4 + size


def index(rows, columns):
    """`rows`: identifier and {section: (offset, size)} of each unit."""
    slots = 1
    while slots < len(rows) * 3 / 2 + 1:
        slots *= 2
    hashes, numbers = [0] * slots, [0] * slots
    for number, (identifier, _) in enumerate(rows, 1):
        slot, step = identifier & (slots - 1), (identifier >> 32) & (slots - 1) | 1
        while numbers[slot]:
            slot = (slot + step) & (slots - 1)
        hashes[slot], numbers[slot] = identifier, number
    cells = [[parts.get(column, (0, 0))[which] for _, parts in rows for column in columns] for which in (0, 1)]
    return (struct.pack("<HHIII", 5, 0, len(columns), len(rows), slots) + struct.pack(f"<{slots}Q", *hashes)
            + b"".join(struct.pack(f"<{len(list_)}I", *list_) for list_ in (numbers, [ID[name] for name in columns], *cells)))


def elf(content):
    names, offset, body, headers = b"\0", 64, b"", [b"\0" * 64]
    for name, data in [*content.items(), (".shstrtab", None)]:
        at, names = len(names), names + name.encode() + b"\0"
        data = names if data is None else data
        headers.append(struct.pack("<IIQQQQIIQQ", at, 3 if name == ".shstrtab" else 1, 0, 0, offset + len(body), len(data), 0, 0, 1, 0))
        body += data
    head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 1, 243, 1, 0, 0, offset + len(body), 0, 64, 0, 0, 64, len(headers), len(headers) - 1)
    return head + body + b"".join(headers)


def pack(paths, package):
    out = {name: b"" for name in ID}
    texts, rows = b"", {SPLIT_COMPILE: [], SPLIT_TYPE: []}
    for path in paths:
        given = sections(path)
        offsets = given[".debug_str_offsets.dwo"]
        numbers = struct.unpack_from(f"<{(len(offsets) - 8) // 4}I", offsets, 8)
        given[".debug_str_offsets.dwo"] = offsets[:8] + struct.pack(f"<{len(numbers)}I", *(number + len(texts) for number in numbers))
        texts += given[".debug_str.dwo"]
        shared = {}
        for name in list(ID)[1:]:
            if given.get(name):
                shared[name] = (len(out[name]), len(given[name]))
                out[name] += given[name]
        for kind, identifier, unit in units(given[".debug_info.dwo"]):
            if any(identifier == other for other, _ in rows[kind]):
                continue  # a type unit of several files
            rows[kind].append((identifier, {**shared, ".debug_info.dwo": (len(out[".debug_info.dwo"]), len(unit))}))
            out[".debug_info.dwo"] += unit
    columns = [name for name in ID if out[name]]
    content = {name: data for name, data in out.items() if data} | {".debug_str.dwo": texts}
    for kind, name in ((SPLIT_COMPILE, ".debug_cu_index"), (SPLIT_TYPE, ".debug_tu_index")):
        if rows[kind]:
            content[name] = index(rows[kind], columns)
    with open(package, "wb") as file:
        file.write(elf(content))

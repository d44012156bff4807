/* Layout of .riscv.attributes: 'A', then subsections {u32 length, vendor (NUL-terminated), sub-subsections {tag, u32
 * length, attributes}}. An attribute is a ULEB128 tag, followed by a NUL-terminated string for odd tags and by a
 * ULEB128 for even tags. The length of a subsection counts from its own start, that of a sub-subsection from its
 * tag. */
#include "base/bytes.h"
#include "program/attributes.h"

#include <ntrace/isa.h>
#include <string.h>

enum { TAG_FILE = 1, TAG_RISCV_ARCH = 5 };

static const uint8_t *take(ntr_bytes *from, size_t size) {
    if (size > from->size) return NULL;
    const uint8_t *taken = from->data;
    from->data += size;
    from->size -= size;
    return taken;
}

static uint32_t take_u32(ntr_bytes *from) {
    const uint8_t *b = take(from, 4);
    return b ? ntr_little_32(b) : 0;
}

static const char *take_string(ntr_bytes *from) {
    const uint8_t *end = memchr(from->data, 0, from->size);
    return end ? (const char *)take(from, (size_t)(end - from->data) + 1) : NULL;
}

static uint64_t take_uleb(ntr_bytes *from) {
    uint64_t value = 0;
    const uint8_t *byte;
    for (unsigned shift = 0; (byte = take(from, 1)); shift += 7) {
        if (shift < 64) value |= (uint64_t)(*byte & 0x7f) << shift;
        if (!(*byte & 0x80)) break;
    }
    return value;
}

/* Returns the rest of a part of `length` bytes, of which `used` bytes have been read. Empty when it is damaged. */
static ntr_bytes take_part(ntr_bytes *from, size_t length, size_t used) {
    if (length < used || length - used > from->size) return (ntr_bytes){0};
    ntr_bytes part = {from->data, length - used};
    take(from, part.size);
    return part;
}

static const struct {
    const char *name;
    unsigned isa;
} extensions[] = {
    {"zcmp", NTR_ISA_ZCMP},
    {"zcmt", NTR_ISA_ZCMT},
    {"zce", NTR_ISA_ZCMP | NTR_ISA_ZCMT},
};

/* Parses for example "rv32i2p1_m2p0_zcmp1p0": names are separated by '_' and may have a version. */
static unsigned arch_isa(const char *arch) {
    unsigned isa = 0;
    for (const char *part = strchr(arch, '_'); part; part = strchr(part, '_')) {
        part++;
        for (size_t i = 0; i < sizeof extensions / sizeof extensions[0]; i++) {
            size_t length = strlen(extensions[i].name);
            if (strncmp(part, extensions[i].name, length) == 0 && strchr("_0123456789", part[length]))
                isa |= extensions[i].isa; /* strchr also finds the terminating NUL */
        }
    }
    return isa;
}

static unsigned file_isa(ntr_bytes attributes) {
    while (attributes.size) {
        uint64_t tag = take_uleb(&attributes);
        if (tag % 2 == 0) {
            take_uleb(&attributes);
            continue;
        }
        const char *text = take_string(&attributes);
        if (!text) break;
        if (tag == TAG_RISCV_ARCH) return arch_isa(text);
    }
    return 0;
}

static unsigned vendor_isa(ntr_bytes subsection) {
    const char *vendor = subsection.size ? take_string(&subsection) : NULL;
    if (!vendor || strcmp(vendor, "riscv") != 0) return 0;
    while (subsection.size) {
        const uint8_t *tag = take(&subsection, 1);
        ntr_bytes part = take_part(&subsection, take_u32(&subsection), 5);
        if (part.size && *tag == TAG_FILE) return file_isa(part);
        if (!part.size) break;
    }
    return 0;
}

unsigned ntr_attributes_isa(ntr_bytes section) {
    const uint8_t *version = take(&section, 1);
    if (!version || *version != 'A') return 0;
    unsigned isa = 0;
    while (section.size) {
        ntr_bytes part = take_part(&section, take_u32(&section), 4);
        if (!part.size) break;
        isa |= vendor_isa(part);
    }
    return isa;
}

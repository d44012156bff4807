/* A page of the scatter-gather table has 1024 entries of 32 bits: bits 31:4 are bits 39:12 of an address, the low bits
 * say of what. */
#include "base/allocator.h"
#include "base/bytes.h"
#include "base/config.h"
#include "base/macros.h"

#include <ntrace/frames.h>
#include <ntrace/tmc.h>

enum {
    TABLE_BYTES = NTR_TMC_PAGE_BYTES,
    TABLE_ENTRY_BYTES = 4,
    TABLE_ENTRIES = TABLE_BYTES / TABLE_ENTRY_BYTES,
    ENTRY_LAST = 1,
    ENTRY_LINK = 3,
    ENTRY_TYPE = 3,
    ENTRY_ADDRESS_AT = 4
};

struct walk {
    ntr_tmc_memory memory;
    ntr_tmc_read read;
    ntr_tmc_part part;
    void *user;
    ntr_tmc_error *error;
    uint64_t *pages;
    size_t count, capacity;
    uint64_t address, size; /* of the part that is collected */
};

static ntr_status refuse(struct walk *w, const char *what, const char *expected, uint64_t found, uint64_t address) {
    if (w->error) *w->error = (ntr_tmc_error){what, expected, found, address};
    return NTR_E_RANGE;
}

/* ---- the table */

static ntr_status add_page(struct walk *w, uint64_t page) {
    if (ntr_reserve(w->memory.allocator, (void **)&w->pages, &w->capacity, w->count + 1, sizeof *w->pages))
        return NTR_E_MEMORY;
    w->pages[w->count++] = page;
    return NTR_OK;
}

static ntr_status read_table(struct walk *w) {
    const uint64_t most = (w->memory.bytes + TABLE_BYTES - 1) / TABLE_BYTES;
    uint64_t table = w->memory.base;

    for (uint64_t tables = 0; tables <= most / (TABLE_ENTRIES - 1); tables++) {
        uint8_t bytes[TABLE_BYTES];
        bool linked = false;
        TRY(w->read(w->user, table, bytes, sizeof bytes));
        for (unsigned i = 0; i < TABLE_ENTRIES && !linked; i++) {
            const uint32_t entry = ntr_little_32(bytes + i * TABLE_ENTRY_BYTES), type = entry & ENTRY_TYPE;
            const uint64_t page = (uint64_t)(entry >> ENTRY_ADDRESS_AT) * TABLE_BYTES,
                           at = table + i * TABLE_ENTRY_BYTES;
            linked = type == ENTRY_LINK;
            if (!type || entry >> 2 & 3)
                return refuse(w, "the scatter-gather table", "an entry of type 1, 2 or 3", entry, at);
            if (linked) {
                table = page;
                continue;
            }
            if (w->count == most) return refuse(w, "the scatter-gather table", "its last entry at RSZ", entry, at);
            TRY(add_page(w, page));
            if (type == ENTRY_LAST) return NTR_OK;
        }
        if (!linked)
            return refuse(w, "the scatter-gather table", "a link in the last entry of a page", 0,
                          table + TABLE_BYTES - TABLE_ENTRY_BYTES);
    }
    return refuse(w, "the scatter-gather table", "its last entry at RSZ", w->count, table);
}

/* ---- the data */

static ntr_status pass_part(struct walk *w) {
    const uint64_t size = w->size;

    w->size = 0;
    return size ? w->part(w->user, w->address, size) : NTR_OK;
}

static ntr_status add_part(struct walk *w, uint64_t address, uint64_t size) {
    if (!size) return NTR_OK;
    if (w->size && w->address + w->size == address) {
        w->size += size;
        return NTR_OK;
    }
    TRY(pass_part(w));
    w->address = address;
    w->size = size;
    return NTR_OK;
}

/* Bytes [from, to) of the buffer. */
static ntr_status add_range(struct walk *w, uint64_t from, uint64_t to) {
    if (!w->memory.scattered) return add_part(w, w->memory.base + from, to - from);
    while (from < to) {
        const uint64_t left = TABLE_BYTES - from % TABLE_BYTES, size = to - from < left ? to - from : left;
        TRY(add_part(w, w->pages[from / TABLE_BYTES] + from % TABLE_BYTES, size));
        from += size;
    }
    return NTR_OK;
}

static ntr_status find_pointer(struct walk *w, uint64_t *offset) {
    const ntr_tmc_memory *m = &w->memory;

    *offset = m->rwp - m->base;
    if (m->scattered) {
        size_t page = 0;
        while (page < w->count && m->rwp / TABLE_BYTES != w->pages[page] / TABLE_BYTES) page++;
        if (page == w->count)
            return refuse(w, "RWP", "an address inside a page of the scatter-gather table", m->rwp, 0);
        *offset = (uint64_t)page * TABLE_BYTES + m->rwp % TABLE_BYTES;
    } else if (m->rwp < m->base || *offset > m->bytes) {
        return refuse(w, "RWP", "an address inside the buffer, from DBA to DBA + RSZ * 4", m->rwp, 0);
    }
    if (*offset % NTR_FRAME_BYTES)
        return refuse(w, "RWP", "an address at the beginning of a frame of 16 bytes", m->rwp, 0);
    if (*offset > m->bytes) return refuse(w, "RWP", "an address before the end of the buffer", m->rwp, 0);
    return NTR_OK;
}

static ntr_status give(struct walk *w) {
    uint64_t offset;

    if (!w->memory.bytes || w->memory.bytes % NTR_FRAME_BYTES || w->memory.bytes > UINT64_C(1) << 40)
        return refuse(w, "RSZ", "a buffer of frames of 16 bytes, at most 1 TiB", w->memory.bytes, 0);
    if (w->memory.scattered) {
        if (!w->read) return NTR_E_INVALID;
        TRY(read_table(w));
        if (w->count < (w->memory.bytes + TABLE_BYTES - 1) / TABLE_BYTES)
            return refuse(w, "the scatter-gather table", "pages for RSZ * 4 bytes", (uint64_t)w->count * TABLE_BYTES,
                          0);
    }
    TRY(find_pointer(w, &offset));
    if (w->memory.full) TRY(add_range(w, offset, w->memory.bytes));
    TRY(add_range(w, 0, offset));
    return pass_part(w);
}

ntr_status ntr_tmc_parts(const ntr_tmc_memory *memory, ntr_tmc_read read, ntr_tmc_part part, void *user,
                         ntr_tmc_error *error) {
    struct walk w = {.read = read, .part = part, .user = user, .error = error};

    if (error) *error = (ntr_tmc_error){0};
    TRY(ntr_config_load(&w.memory, sizeof w.memory, memory));
    if (!part) return NTR_E_INVALID;
    ntr_status status = give(&w);
    ntr_dealloc(w.memory.allocator, w.pages);
    return status;
}

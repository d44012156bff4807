#include "base/bytes.h"
#include "partial/blocks.h"

#include "base/allocator.h"

#include <string.h>

void ntr_block_reader_fail(ntr_block_reader *r, const char *what) {
    if (r->status) return;
    r->status = NTR_E_FORMAT;
    r->what = what;
}

/* Reads exactly `size` bytes. Returns the number that was there. */
static size_t get(ntr_block_reader *r, void *to, size_t size) {
    size_t have = 0, got = 1;
    while (have < size && got && !r->status) {
        ntr_status status = r->read(r->user, (uint8_t *)to + have, size - have, &got);
        if (status != NTR_OK) {
            r->status = status;
            r->what = "cannot be read";
            return have;
        }
        have += got;
        r->offset += got;
    }
    return have;
}

ntr_status ntr_block_reader_start(ntr_block_reader *r) {
    uint8_t magic[sizeof NTR_PARTIAL_MAGIC];
    r->loaded = false;
    r->kind = NTR_BLOCK_HEAD;
    const size_t got = get(r, magic, sizeof magic);
    if (!r->status && got == 0) return NTR_END;
    if (got < sizeof magic || memcmp(magic, NTR_PARTIAL_MAGIC, sizeof magic - 1) != 0)
        ntr_block_reader_fail(r, "is not a partial answer");
    if (!r->status && magic[sizeof magic - 1] != NTR_PARTIAL_VERSION) {
        r->status = NTR_E_UNSUPPORTED;
        r->what = "has another version of the format; expected version 1";
    }
    return r->status;
}

/* Loads the next block. Kinds never decrease. */
static void load(ntr_block_reader *r) {
    uint8_t head[NTR_BLOCK_HEAD_SIZE];
    size_t got = get(r, head, NTR_BLOCK_HEAD_SIZE);
    const uint32_t size = (uint32_t)ntr_little(head + 1, 4);
    if (got < NTR_BLOCK_HEAD_SIZE) {
        ntr_block_reader_fail(r, "ends inside of the answer: it is truncated");
        return;
    }
    if (head[0] >= NTR_BLOCK_KINDS || (head[0] && head[0] < r->kind) || size > NTR_BLOCK_MAX) {
        ntr_block_reader_fail(r, "is damaged: expected the head of a block");
        return;
    }
    if (ntr_reserve(r->allocator, (void **)&r->bytes, &r->capacity,
                    NTR_BLOCK_HEAD_SIZE + (size_t)size + NTR_BLOCK_SUM_SIZE, 1)) {
        r->status = NTR_E_MEMORY;
        return;
    }
    memcpy(r->bytes, head, NTR_BLOCK_HEAD_SIZE);
    got = get(r, r->bytes + NTR_BLOCK_HEAD_SIZE, (size_t)size + NTR_BLOCK_SUM_SIZE);
    if (got < (size_t)size + NTR_BLOCK_SUM_SIZE) {
        ntr_block_reader_fail(r, "ends inside of a block: it is truncated");
        return;
    }
    if (ntr_little(r->bytes + NTR_BLOCK_HEAD_SIZE + size, NTR_BLOCK_SUM_SIZE) !=
        ntr_partial_hash(0, r->bytes, NTR_BLOCK_HEAD_SIZE + (size_t)size)) {
        ntr_block_reader_fail(r, "is damaged: the checksum of a block differs");
        return;
    }
    r->kind = head[0];
    r->at = NTR_BLOCK_HEAD_SIZE;
    r->size = NTR_BLOCK_HEAD_SIZE + (size_t)size;
    r->before = (ntr_record){0};
    r->number++;
    r->loaded = true;
}

bool ntr_block_more(ntr_block_reader *r, uint8_t kind) {
    while (!r->status && (!r->loaded || (r->at == r->size && r->kind != NTR_BLOCK_END))) load(r);
    return !r->status && r->kind == kind && r->at < r->size;
}

uint64_t ntr_block_get(ntr_block_reader *r) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !r->status; shift += 7) {
        if (r->at == r->size) break;
        const uint8_t byte = r->bytes[r->at++];
        if (shift == 63 && byte > 1) break;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) return value;
    }
    ntr_block_reader_fail(r, "is damaged: expected a number");
    return 0;
}

char *ntr_block_get_text(ntr_block_reader *r) {
    const uint64_t size = ntr_block_get(r);
    if (r->status) return NULL;
    if (size > r->size - r->at) {
        ntr_block_reader_fail(r, "is damaged: expected a text");
        return NULL;
    }
    char *text = ntr_alloc(r->allocator, (size_t)size + 1, 1);
    if (!text) {
        r->status = NTR_E_MEMORY;
        return NULL;
    }
    for (size_t i = 0; i < size; i++) text[i] = r->bytes[r->at + i] < ' ' ? '?' : (char)r->bytes[r->at + i];
    r->at += (size_t)size;
    return text;
}

bool ntr_block_get_fields(ntr_block_reader *r, uint8_t kind, ntr_record *record, unsigned keys, unsigned fields) {
    if (!ntr_block_more(r, kind)) return false;
    *record = (ntr_record){0};
    for (unsigned i = 0; i < fields; i++) {
        const uint64_t number = ntr_block_get(r);
        record->v[i] = i < keys ? r->before.v[i] + ntr_block_unzigzag(number) : number;
    }
    r->before = *record;
    return !r->status;
}

ntr_status ntr_block_skip(ntr_block_reader *r) {
    while (!r->status && !(r->loaded && r->kind == NTR_BLOCK_END)) load(r);
    return r->status;
}

void ntr_block_reader_release(ntr_block_reader *r) {
    ntr_dealloc(r->allocator, r->bytes);
    r->bytes = NULL;
    r->capacity = 0;
}

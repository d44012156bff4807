#include "capture/blocks.h"
#include "base/allocator.h"
#include "capture/generated.h"
#include "capture/run.h"
#include "capture/spaces.h"

#include <string.h>

static ntr_bytes code_of(const struct ntr_capture_harts *harts, uint32_t number) {
    const struct channel_block *block = ntr_capture_shared(harts, number);
    return (ntr_bytes){harts->channel->code + block->code, block->size};
}

/* An instruction of more than 32 bits: QEMU takes four bytes of it and raises an exception. It does not retire, as
 * ECALL. */
static bool is_long(ntr_bytes bytes) {
    return (bytes.data[0] & 0x1f) == 0x1f;
}

/* The instructions from `at` on, at most so many (0: all). Returns false, with the reason noted, when there are none.
 */
static bool scan(struct ntr_capture_harts *harts, uint32_t number, uint32_t at, unsigned instructions,
                 ntr_code_block *part) {
    ntr_bytes bytes = code_of(harts, number);
    const unsigned isa = (harts->channel->head.xlen == 32 ? NTR_ISA_RV32 : 0) | harts->isa;
    const uint64_t address = ntr_capture_shared(harts, number)->address + at;

    bytes = (ntr_bytes){bytes.data + at, bytes.size - at};
    const ntr_status status = ntr_code_block_scan(bytes.data, bytes.size, address, isa, instructions, part);
    if (status != NTR_OK && bytes.size && is_long(bytes)) {
        part->flow = NTR_FLOW_TRAP;
        part->itype = NTR_ITYPE_EXCEPTION;
        return true;
    }
    ntr_capture_note(harts, status);
    return status == NTR_OK;
}

void ntr_capture_block_part(struct ntr_capture_harts *harts, uint32_t number, unsigned instructions,
                            ntr_code_block *part) {
    scan(harts, number, 0, instructions, part);
}

bool ntr_capture_block_tail(struct ntr_capture_harts *harts, uint32_t number, unsigned skip, unsigned instructions,
                            ntr_code_block *part) {
    const ntr_bytes bytes = code_of(harts, number);
    uint32_t at = 0;

    if (instructions && instructions <= skip) return false;
    for (unsigned i = 0; i < skip; i++) at += ntr_capture_length_at(bytes.data + at);
    return at < bytes.size && scan(harts, number, at, instructions ? instructions - skip : 0, part);
}

static void fill(struct ntr_capture_harts *harts, uint32_t number, struct ntr_capture_block *block) {
    static const uint8_t ecall[4] = {0x73, 0, 0, 0};
    ntr_bytes bytes = code_of(harts, number);

    ntr_capture_block_part(harts, number, 0, &block->code);
    block->is_ecall =
        harts->channel->head.machine
            ? block->code.flow == NTR_FLOW_TRAP
            : bytes.size >= sizeof ecall && memcmp(bytes.data + bytes.size - sizeof ecall, ecall, sizeof ecall) == 0;
    block->last_traps = ntr_capture_shared(harts, number)->flags & CHANNEL_BLOCK_LAST_TRAPS;
}

static bool resize(const struct ntr_capture_harts *harts, void **items, size_t size, uint32_t larger) {
    void *moved = ntr_realloc(harts->allocator, *items, larger, size);

    if (!moved) return false;
    memset((char *)moved + harts->block_capacity * size, 0, (larger - harts->block_capacity) * size);
    *items = moved;
    return true;
}

static bool grow(struct ntr_capture_harts *harts, uint32_t number) {
    uint32_t larger = harts->block_capacity ? harts->block_capacity : 1024;

    while (larger <= number) larger *= 2;
    if (!resize(harts, (void **)&harts->blocks, sizeof *harts->blocks, larger) ||
        !resize(harts, (void **)&harts->links, sizeof *harts->links, larger)) {
        ntr_capture_note(harts, NTR_E_MEMORY);
        return false;
    }
    harts->block_capacity = larger;
    return true;
}

void ntr_capture_stop_all(struct ntr_capture_harts *harts) {
    for (uint32_t i = 0; i < ntr_capture_source_lanes(harts->channel); i++) {
        struct ntr_capture_hart *hart = &harts->harts[i];
        if (!hart->classifier) continue;
        uint64_t next = hart->last ? ntr_capture_shared(harts, hart->last)->address : NTR_ADDRESS_UNKNOWN;
        ntr_capture_run_stop(harts, hart, next);
    }
}

/* The offset in the stream at which other code begins: all harts are stopped there. */
static uint64_t begin_version(struct ntr_capture_harts *harts, unsigned hart) {
    ntr_capture_stop_all(harts);
    return harts->system ? ntr_capture_system_barrier(harts->system, hart) : harts->stream->offset;
}

/* The number of the mapping of a block; 0: none. */
static uint32_t mapping_of(struct ntr_capture_harts *harts, const struct channel_block *block) {
    if (!harts->record) return 0;
    const uint32_t file = ntr_capture_mapped_line(harts->record, block->file);
    const bool named = file && harts->record->mappings[file - 1].copy != SIZE_MAX; /* an ELF file */
    const uint32_t generated = named ? 0 : ntr_capture_generated_at(harts->record, block->names, block->address);
    return generated ? generated : file;
}

/* What is mapped at the block may be another file than before. */
static bool map(struct ntr_capture_harts *harts, unsigned hart, const struct channel_block *block, uint32_t number) {
    uint64_t first, end;
    const bool replaces = ntr_capture_mapped_is_first(harts->record, number, &first, &end) &&
                          ntr_capture_code_knows(&harts->code, first, end); /* code without a file was executed there */

    if (!replaces && !ntr_capture_mapped_differs(harts->record, number, block->address)) return true;
    const uint64_t position = begin_version(harts, hart);
    memset(harts->links, 0, harts->block_capacity * sizeof *harts->links);
    return ntr_capture_mapped_change(harts->record, number, block->address, position, &first, &end) == NTR_OK &&
           ntr_capture_code_forget(&harts->code, first, end, position);
}

static void verify(struct ntr_capture_harts *harts, unsigned hart, uint32_t space, uint32_t number,
                   struct ntr_capture_block *block) {
    ntr_bytes bytes = code_of(harts, number);
    const struct channel_block *shared = ntr_capture_shared(harts, number);
    const uint64_t address = shared->address;
    const uint32_t mapping = mapping_of(harts, shared);
    const bool is_new = harts->record && !ntr_capture_mapped_is_current(harts->record, mapping);
    bool failed = harts->record && !map(harts, hart, shared, mapping);

    if (failed) {
        ntr_capture_note(harts, NTR_E_MEMORY);
        return;
    }
    if (!ntr_capture_code_agrees(&harts->code, space, address, bytes, &failed) && !failed) {
        const uint64_t position = begin_version(harts, hart);
        failed = !ntr_capture_code_change(&harts->code, space, address, bytes, position);
        if (is_new) ntr_capture_mapped_begin(harts->record, mapping, position);
        harts->rewritten |= harts->system && !position;
        memset(harts->links, 0, harts->block_capacity * sizeof *harts->links);
    }
    if (failed) ntr_capture_note(harts, NTR_E_MEMORY);
    block->generation = harts->code.generation;
    block->space = space;
}

struct ntr_capture_block *ntr_capture_block_code(struct ntr_capture_harts *harts, uint32_t number) {
    if (number >= harts->block_capacity && !grow(harts, number)) return NULL;
    struct ntr_capture_block *block = &harts->blocks[number];
    if (!block->generation) fill(harts, number, block);
    return block;
}

struct ntr_capture_block *ntr_capture_block_at(struct ntr_capture_harts *harts, const struct ntr_capture_hart *hart,
                                               uint32_t number) {
    struct ntr_capture_block *block = ntr_capture_block_code(harts, number);
    if (!block) return NULL;
    uint32_t space = harts->keeps_spaces ? ntr_capture_machine_space(harts, hart, number) : 0;
    if (block->generation != harts->code.generation || block->space != space)
        verify(harts, (unsigned)(hart - harts->harts), space, number, block);
    return block;
}

#include "capture/place_code.h"
#include "capture/elf.h"

#include <string.h>

enum { PROBE = 32, RANGES_TRIED = 512, VOTES = 3, SAME_BYTES = 256, SAME_PERCENT = 95 };

/* An executable segment of the file. */
struct code_segment {
    ntr_bytes bytes;
    uint64_t address;
};

struct search {
    const struct ntr_capture_code *code;
    unsigned prv;
    size_t count; /* biases */
    struct bias {
        uint64_t bias;
        unsigned votes;
    } biases[NTR_CODE_PLACES];
};

static bool is_of_mode(const struct search *search, const struct ntr_capture_code_range *range) {
    const struct ntr_capture_space *space = range->space ? &search->code->spaces[range->space - 1] : NULL;

    return space && space->has_prv && space->prv == search->prv && !space->v;
}

static void vote(struct search *search, uint64_t bias) {
    size_t i = 0;

    while (i < search->count && search->biases[i].bias != bias) i++;
    if (i == NTR_CODE_PLACES) return;
    if (i == search->count) search->biases[search->count++] = (struct bias){.bias = bias};
    search->biases[i].votes++;
}

/* The range votes if its first bytes are in the segment once. */
static void probe(struct search *search, const struct code_segment *segment,
                  const struct ntr_capture_code_range *range) {
    const uint8_t *bytes = search->code->bytes + range->place, *end = segment->bytes.data + segment->bytes.size;
    const uint8_t *found = memmem(segment->bytes.data, segment->bytes.size, bytes, PROBE);

    if (!found || memmem(found + 1, (size_t)(end - found - 1), bytes, PROBE)) return;
    vote(search, range->address - segment->address - (uint64_t)(found - segment->bytes.data));
}

static bool can_vote(const struct search *search, const struct ntr_capture_code_range *range) {
    return range->length >= PROBE && is_of_mode(search, range);
}

static void probe_all(struct search *search, const struct code_segment *segment) {
    const struct ntr_capture_code *code = search->code;
    size_t voters = 0, number = 0;

    for (size_t i = 0; i < code->range_count; i++) voters += can_vote(search, &code->ranges[i]);
    const size_t step = voters / RANGES_TRIED + 1;
    for (size_t i = 0; i < code->range_count; i++)
        if (can_vote(search, &code->ranges[i]) && number++ % step == 0) probe(search, segment, &code->ranges[i]);
}

static uint64_t equal_bytes(const uint8_t *a, const uint8_t *b, uint64_t count) {
    uint64_t equal = 0;

    for (uint64_t i = 0; i < count; i++) equal += a[i] == b[i];
    return equal;
}

/* Compares all that was executed where the segment would be. */
static bool agrees(const struct search *search, const struct code_segment *segment, struct ntr_code_place *place) {
    const uint64_t begin = segment->address + place->bias, size = segment->bytes.size;
    uint64_t same = 0, all = 0;

    place->from = UINT64_MAX;
    place->until = 1;
    for (size_t i = 0; i < search->code->range_count; i++) {
        const struct ntr_capture_code_range *range = &search->code->ranges[i];
        const uint64_t at = range->address - begin;
        if (!is_of_mode(search, range) || at >= size || range->length > size - at) continue;
        const uint8_t *executed = search->code->bytes + range->place, *expected = segment->bytes.data + at;
        const uint64_t equal = equal_bytes(executed, expected, range->length);
        all += range->length;
        same += equal;
        if (equal < range->length) continue;
        if (range->from < place->from) place->from = range->from;
        if (!range->until || (place->until && range->until > place->until)) place->until = range->until;
    }
    return same >= SAME_BYTES && same * 100 >= all * SAME_PERCENT;
}

static size_t place_segment(struct search *search, const struct code_segment *segment, struct ntr_code_place *places,
                            size_t count) {
    search->count = 0;
    probe_all(search, segment);
    for (size_t i = 0; i < search->count && count < NTR_CODE_PLACES; i++) {
        places[count].bias = search->biases[i].bias;
        if (search->biases[i].votes >= VOTES && agrees(search, segment, &places[count])) count++;
    }
    return count;
}

size_t ntr_code_places(const struct ntr_capture_code *code, unsigned prv, ntr_bytes file,
                       struct ntr_code_place places[NTR_CODE_PLACES]) {
    struct search search = {.code = code, .prv = prv};
    Elf64_Phdr header;
    size_t count = 0;

    for (size_t i = 0; ntr_capture_elf_header(file, i, &header) && !count; i++) {
        if (header.p_type != PT_LOAD || !(header.p_flags & PF_X)) continue;
        if (header.p_offset > file.size || header.p_filesz > file.size - header.p_offset || header.p_filesz < PROBE)
            continue;
        const struct code_segment segment = {{file.data + header.p_offset, (size_t)header.p_filesz}, header.p_vaddr};
        count = place_segment(&search, &segment, places, 0);
    }
    return count;
}

#include "analysis/code_versions.h"
#include "base/bytes.h"

#include "base/allocator.h"
#include "base/macros.h"

#include <stdlib.h>
#include <string.h>

static int by_address(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return (x[0] > y[0]) - (x[0] < y[0]);
}

/* Sorts the ranges, and joins those that overlap or touch. */
static void join_ranges(ntr_code_versions *v) {
    size_t count = 0;
    if (v->changed_count) qsort(v->changed, v->changed_count, sizeof *v->changed, by_address);
    for (size_t i = 0; i < v->changed_count; i++) {
        uint64_t *last = count ? v->changed[count - 1] : NULL;
        if (last && v->changed[i][0] <= last[1]) {
            if (v->changed[i][1] > last[1]) last[1] = v->changed[i][1];
            continue;
        }
        v->changed[count][0] = v->changed[i][0];
        v->changed[count++][1] = v->changed[i][1];
    }
    v->changed_count = count;
}

/* Images that exist only from or until a position hold code that was changed, or made, at run time. */
static ntr_status find_changed(ntr_code_versions *v, const ntr_program *program) {
    ntr_image_info info;
    v->program = program;
    v->changed_count = 0;
    for (size_t i = 0; ntr_program_image(program, i, &info) == NTR_OK; i++) {
        if (info.path || (!info.options.from && !info.options.until)) continue;
        if (ntr_reserve(v->allocator, (void **)&v->changed, &v->changed_capacity, v->changed_count + 1,
                        sizeof *v->changed))
            return NTR_E_MEMORY;
        v->changed[v->changed_count][0] = info.low;
        v->changed[v->changed_count++][1] = info.high;
    }
    join_ranges(v);
    return NTR_OK;
}

static bool is_changed(const ntr_code_versions *v, uint64_t first, uint64_t last) {
    size_t low = 0, high = v->changed_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (v->changed[middle][1] <= first)
            low = middle + 1;
        else
            high = middle;
    }
    return low < v->changed_count && v->changed[low][0] <= last;
}

static uint64_t read_bits(const ntr_code_versions *v, const ntr_context *context, uint64_t position, uint64_t address,
                          size_t size, bool *there) {
    uint8_t bytes[8] = {0};
    *there = ntr_program_read(v->program, ntr_place_at(context, position, address), bytes, size < 8 ? size : 8) == size;
    return ntr_little_64(bytes);
}

/* Returns the entry of an address and version, a new one if there is none; NULL when out of memory. */
static ntr_object_version *entry_of(ntr_code_versions *v, uint64_t address, uint64_t bits) {
    size_t low = 0, high = v->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const ntr_object_version *at = &v->items[middle];
        if (at->address < address || (at->address == address && at->bits < bits))
            low = middle + 1;
        else
            high = middle;
    }
    if (low < v->count && v->items[low].address == address && v->items[low].bits == bits) return &v->items[low];
    if (ntr_reserve(v->allocator, (void **)&v->items, &v->capacity, v->count + 1, sizeof *v->items)) return NULL;
    memmove(v->items + low + 1, v->items + low, (v->count - low) * sizeof *v->items);
    v->items[low] = (ntr_object_version){.address = address, .bits = bits};
    v->count++;
    return &v->items[low];
}

/* Counts an instruction, and notes the version that the program had at first. */
static ntr_status add_insn(ntr_code_versions *v, const ntr_event *span, uint64_t address, const ntr_insn *insn) {
    bool there;
    ntr_object_version *e =
        entry_of(v, address, read_bits(v, &span->context, span->offset, address, insn->size, &there));
    if (!e) return NTR_E_MEMORY;
    e->size = insn->size;
    e->flow = insn->flow;
    e->isa = (uint8_t)ntr_program_isa(v->program, ntr_place_at(&span->context, span->offset, address));
    const uint8_t isa = e->isa;
    e->executed += ntr_event_times(span);
    if (address == span->last) {
        if (span->end == NTR_SPAN_TAKEN) e->taken += ntr_event_times(span);
        if (span->end == NTR_SPAN_NOT_TAKEN) e->not_taken += ntr_event_times(span);
    }
    ntr_insn first;
    if (ntr_program_insn(v->program, ntr_place_at(&span->context, 0, address), &first) != NTR_OK) return NTR_OK;
    uint64_t bits = read_bits(v, &span->context, 0, address, first.size, &there);
    if (!there || !(bits & 0xffff)) return NTR_OK; /* zeros around what was executed: not known */
    if (!(e = entry_of(v, address, bits))) return NTR_E_MEMORY;
    e->size = first.size;
    e->flow = first.flow;
    e->isa = isa;
    return NTR_OK;
}

static ntr_status add_span(ntr_code_versions *v, const ntr_event *span) {
    ntr_insn insn;
    for (uint64_t at = span->address; at - span->address <= span->last - span->address; at += insn.size) {
        if (ntr_program_insn(v->program, ntr_place_at(&span->context, span->offset, at), &insn) != NTR_OK) break;
        if (is_changed(v, at, at + insn.size - 1u)) TRY(add_insn(v, span, at, &insn));
    }
    return NTR_OK;
}

ntr_status ntr_code_versions_feed(ntr_code_versions *v, const ntr_program *program, const ntr_event *events,
                                  size_t count) {
    if (v->program != program) TRY(find_changed(v, program));
    for (size_t i = 0; v->changed_count && i < count; i++)
        if (events[i].kind == NTR_EVENT_SPAN && events[i].instructions &&
            is_changed(v, events[i].address, events[i].last))
            TRY(add_span(v, &events[i]));
    return NTR_OK;
}

ntr_status ntr_code_versions_end(ntr_code_versions *v) {
    v->program = NULL;
    ntr_dealloc(v->allocator, v->listed);
    v->listed_count = 0;
    v->listed = ntr_alloc(v->allocator, v->count + 1, sizeof *v->listed);
    if (!v->listed) return NTR_E_MEMORY;
    for (size_t i = 0, next; i < v->count; i = next) {
        for (next = i + 1; next < v->count && v->items[next].address == v->items[i].address;) next++;
        for (size_t k = i; next - i > 1 && k < next; k++) v->listed[v->listed_count++] = v->items[k];
    }
    return NTR_OK;
}

void ntr_code_versions_release(ntr_code_versions *v) {
    ntr_dealloc(v->allocator, v->changed);
    ntr_dealloc(v->allocator, v->items);
    ntr_dealloc(v->allocator, v->listed);
}

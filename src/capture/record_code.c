#include "base/allocator.h"
#include "capture/record.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PART_FILE "images/part-%u"

enum { GAP = 255 }; /* bytes between ranges that are joined: less than code.c makes a new version of */

/* The file of code bytes that is being written. */
struct code_file {
    struct ntr_capture_record *record;
    const struct ntr_capture_code *code;
    const char *name; /* in the bundle */
    FILE *file;
    char path[PATH_MAX];
    uint64_t size;
    ntr_bundle_image *last; /* the image that may still grow; NULL: none */
    uint32_t space;         /* of the last image */
};

/* Do the ELF files hold the same bytes? */
static bool is_in_files(const struct code_file *out, const struct ntr_capture_code_range *range) {
    const uint8_t *bytes = out->code->bytes + range->place;
    uint8_t there[4096];

    for (uint64_t at = 0; at < range->length;) {
        size_t want = range->length - at < sizeof there ? (size_t)(range->length - at) : sizeof there;
        size_t n = ntr_program_read(out->record->program, NULL, NTR_POSITION_ANY, range->address + at, there, want);
        if (n == 0 || memcmp(there, bytes + at, n) != 0) return false;
        at += n;
    }
    return true;
}

/* Are the bytes from `address` on unknown, so that zeros hide nothing? */
static bool is_free(const struct code_file *out, uint64_t address, uint64_t length) {
    uint8_t byte;
    for (uint64_t at = 0; at < length; at++) {
        if (ntr_program_read(out->record->program, NULL, NTR_POSITION_ANY, address + at, &byte, 1)) return false;
    }
    return true;
}

static bool write_bytes(struct code_file *out, const uint8_t *bytes, uint64_t length) {
    out->size += length;
    return fwrite(bytes, 1, (size_t)length, out->file) == length;
}

/* Where a range becomes valid: not before its program began. */
static uint64_t begin_of(const struct code_file *out, const struct ntr_capture_code_range *range) {
    return range->from > out->record->from ? range->from : out->record->from;
}

/* Does the range continue the last image? *gap becomes the number of unknown bytes between them. */
static bool continues(const struct code_file *out, const struct ntr_capture_code_range *range, uint64_t *gap) {
    const ntr_bundle_image *last = out->last;

    if (!last || out->space != range->space || last->options.from != begin_of(out, range) ||
        last->options.until != range->until)
        return false;
    uint64_t end = last->options.bias + last->length;
    *gap = range->address - end;
    return range->address >= end && *gap <= GAP && is_free(out, end, *gap);
}

static ntr_status begin_image(struct code_file *out, const struct ntr_capture_code_range *range) {
    ntr_bundle_image *image = out->last = ntr_capture_record_image(out->record);

    if (!image) return ntr_capture_fail_memory(out->record->reason);
    image->kind = NTR_BUNDLE_RAW;
    image->file = out->name;
    image->offset = out->size;
    image->options.bias = range->address;
    image->options.from = begin_of(out, range);
    image->options.until = range->until;
    image->options.has_isa = true;
    image->options.isa = out->record->xlen == 32 ? NTR_ISA_RV32 : 0;
    out->space = range->space;
    if (!range->space) return NTR_OK;
    const struct ntr_capture_space *space = &out->code->spaces[range->space - 1];
    image->options.has_prv = space->has_prv;
    image->options.prv = space->prv;
    image->options.v = space->v;
    image->options.has_scontext = space->has_context;
    image->options.scontext = space->context;
    return NTR_OK;
}

static ntr_status add_range(struct code_file *out, const struct ntr_capture_code_range *range) {
    static const uint8_t zeros[GAP];
    uint64_t gap = 0;

    if (!continues(out, range, &gap)) {
        gap = 0;
        ntr_status status = begin_image(out, range);
        if (status != NTR_OK) return status;
    }
    if (!write_bytes(out, zeros, gap) || !write_bytes(out, out->code->bytes + range->place, range->length))
        return ntr_capture_fail_errno(out->record->reason, out->path);
    out->last->length += gap + range->length;
    return NTR_OK;
}

static int by_validity_and_address(const void *a, const void *b) {
    const struct ntr_capture_code_range *x = *(const struct ntr_capture_code_range *const *)a,
                                        *y = *(const struct ntr_capture_code_range *const *)b;
    if (x->space != y->space) return x->space < y->space ? -1 : 1;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    if (x->until != y->until) return x->until < y->until ? -1 : 1;
    return (x->address > y->address) - (x->address < y->address);
}

/* The ranges in the order in which they can be joined. The caller frees the array; NULL: out of memory. */
static const struct ntr_capture_code_range **sorted(const struct ntr_capture_record *record,
                                                    const struct ntr_capture_code *code) {
    const struct ntr_capture_code_range **ranges =
        ntr_alloc(record->allocator, code->range_count ? code->range_count : 1, sizeof *ranges);

    if (!ranges) return NULL;
    for (size_t i = 0; i < code->range_count; i++) ranges[i] = &code->ranges[i];
    if (code->range_count) qsort(ranges, code->range_count, sizeof(*ranges), by_validity_and_address);
    return ranges;
}

static ntr_status add_ranges(struct code_file *out) {
    const struct ntr_capture_code_range **ranges = sorted(out->record, out->code);
    ntr_status status = NTR_OK;

    if (!ranges) return ntr_capture_fail_memory(out->record->reason);
    for (size_t i = 0; i < out->code->range_count && status == NTR_OK; i++)
        if (!is_in_files(out, ranges[i])) status = add_range(out, ranges[i]);
    ntr_dealloc(out->record->allocator, ranges);
    return status;
}

static const char *code_name(struct ntr_capture_record *record) {
    enum { ROOM = 32 };
    char *name = ntr_alloc(record->allocator, ROOM, 1);

    if (name && record->partial)
        snprintf(name, ROOM, PART_FILE, ++record->part);
    else if (name)
        snprintf(name, ROOM, record->programs ? "images/code-%u" : "images/code", record->programs + 1);
    return ntr_capture_record_keep(record, name);
}

ntr_status ntr_capture_record_code(struct ntr_capture_record *record, const struct ntr_capture_code *code) {
    struct code_file out = {.record = record, .code = code, .name = code_name(record)};

    if (!out.name) return ntr_capture_fail_memory(record->reason);
    snprintf(out.path, sizeof out.path, "%s/%s", ntr_bundle_folder(record->bundle), out.name);
    out.file = fopen(out.path, "we");
    if (!out.file) return ntr_capture_fail_errno(record->reason, out.path);
    ntr_status status = add_ranges(&out);
    if (fclose(out.file) && status == NTR_OK) status = ntr_capture_fail_errno(record->reason, out.path);
    if (status == NTR_OK && !out.size) unlink(out.path);
    return status;
}

void ntr_capture_record_drop_part(const struct ntr_capture_record *record, unsigned part) {
    char path[PATH_MAX];

    if (!part) return;
    snprintf(path, sizeof path, "%s/" PART_FILE, ntr_bundle_folder(record->bundle), part);
    unlink(path);
}

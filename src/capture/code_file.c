/* The file of code bytes that no file of the program has, as images of the bundle. */
#include "base/allocator.h"
#include "capture/generated.h"

#include <ntrace/program_files.h>
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
    ntr_program *files;
    FILE *file;
    char path[PATH_MAX];
    uint64_t size;
    ntr_bundle_image *last; /* the image that may still grow; NULL: none */
    uint32_t space; /* of the last image */
    struct ntr_capture_named *names; /* of generated code */
    size_t name_count;
    uint64_t longest; /* bytes of the longest one */
    const struct ntr_capture_named *named; /* the name of the range that is added; NULL: none */
};

/* The ELF files of the program that runs, each for its part of the stream. */
static ntr_program *files_of(const struct ntr_capture_record *record) {
    ntr_program *files;
    ntr_program_new(record->allocator, &files);
    char path[PATH_MAX];

    if (!files) return NULL;
    ntr_program_omit_names(files);
    for (size_t i = record->first; i < record->image_count; i++) {
        const ntr_bundle_image *image = &record->images[i];
        if (image->kind != NTR_BUNDLE_ELF) continue;
        snprintf(path, sizeof path, "%s/%s", ntr_bundle_folder(record->bundle), image->file);
        ntr_program_add_elf(files, path, &image->options); /* a damaged file holds nothing */
    }
    return files;
}

/* Where a range becomes valid: not before its program began. */
static uint64_t begin_of(const struct code_file *out, const struct ntr_capture_code_range *range) {
    return range->from > out->record->from ? range->from : out->record->from;
}

/* The context in which the range is executed: files may be bound to others. */
static ntr_context context_of(const struct code_file *out, uint32_t number) {
    ntr_context context = {.prv = NTR_PRV_UNKNOWN};
    if (!number) return context;
    const struct ntr_capture_space *space = &out->code->spaces[number - 1];
    if (space->has_prv) context.prv = space->prv;
    context.v = space->has_prv ? space->v : 0;
    context.has_scontext = space->has_context;
    context.scontext = space->context;
    return context;
}

/* Is a part of the code that was executed another one than in the file? Then the file may not name it. */
static bool is_other_code(const uint8_t *bytes, const uint8_t *there, size_t size) {
    enum { PATCH_BYTES = 8 }; /* a jump that was written over the first instructions: src/program/naming.c */
    size_t others = 0;
    for (size_t i = 0; i < size && others <= PATCH_BYTES; i++) {
        others += bytes[i] != 0 && bytes[i] != there[i];
        if (bytes[i] != 0 && bytes[i] == there[i] && i && bytes[i - 1] != 0 && bytes[i - 1] == there[i - 1]) others = 0;
    }
    return others > PATCH_BYTES;
}

/* The file at this place has not the byte that was executed. */
static void note_changed(const struct code_file *out, ntr_place place, bool other) {
    struct ntr_capture_record *record = out->record;
    ntr_image_info info;
    size_t image;

    if ((record->changed && (record->changed_code || !other)) ||
        ntr_program_image_at(out->files, place, &image) != NTR_OK ||
        ntr_program_image(out->files, image, &info) != NTR_OK)
        return;
    record->changed = ntr_capture_record_text(record, info.name);
    record->changed_at = place.address;
    record->changed_code = other;
}

/* Do the ELF files hold the same bytes? */
static bool is_in_files(const struct code_file *out, const struct ntr_capture_code_range *range) {
    const uint8_t *bytes = out->code->bytes + range->place;
    const ntr_context context = context_of(out, range->space);
    uint8_t there[4096];
    bool equal = true;

    for (uint64_t at = 0; at < range->length;) {
        size_t want = range->length - at < sizeof there ? (size_t)(range->length - at) : sizeof there;
        ntr_place place = ntr_place_at(range->space ? &context : NULL, begin_of(out, range), range->address + at);
        size_t n = ntr_program_read(out->files, place, there, want), same = 0;
        if (n == 0) return false;
        while (same < n && there[same] == bytes[at + same]) same++;
        if (same < n) {
            const bool other = is_other_code(bytes + at, there, n);
            place.address += same;
            note_changed(out, place, other);
            equal = false;
        }
        at += n;
    }
    return equal;
}

/* Are the bytes from `address` on unknown, so that zeros hide nothing? */
static bool is_free(const struct code_file *out, uint64_t position, uint64_t address, uint64_t length) {
    const ntr_context context = context_of(out, out->space);
    uint8_t byte;
    for (uint64_t at = 0; at < length; at++) {
        if (ntr_program_read(out->files, ntr_place_at(out->space ? &context : NULL, position, address + at), &byte, 1))
            return false;
    }
    return true;
}

static bool write_bytes(struct code_file *out, const uint8_t *bytes, uint64_t length) {
    out->size += length;
    return fwrite(bytes, 1, (size_t)length, out->file) == length;
}

/* Does the range continue the last image? *gap becomes the number of unknown bytes between them. */
static bool continues(const struct code_file *out, const struct ntr_capture_code_range *range, uint64_t *gap) {
    const ntr_bundle_image *last = out->last;

    if (!last || out->named || last->symbol || out->space != range->space ||
        last->options.from != begin_of(out, range) || last->options.until != range->until)
        return false;
    uint64_t end = last->options.bias + last->length;
    *gap = range->address - end;
    return range->address >= end && *gap <= GAP && is_free(out, last->options.from, end, *gap);
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
    if (out->named) {
        image->symbol = out->named->name;
        image->symbol_address = out->named->start;
        image->symbol_size = out->named->end - out->named->start;
        image->options.name = out->named->file;
    }
    image->options.has_isa = true;
    image->options.isa = (out->record->xlen == 32 ? NTR_ISA_RV32 : 0) | out->record->isa;
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

/* The name of the code at an address of the range, or NULL; *end becomes the address up to which that is so. */
static const struct ntr_capture_named *name_at(const struct code_file *out, const struct ntr_capture_code_range *range,
                                               uint64_t address, uint64_t *end) {
    const uint64_t from = begin_of(out, range);
    size_t low = 0, high = out->name_count;

    while (low < high) { /* the first name that begins behind the address */
        const size_t middle = low + (high - low) / 2;
        if (out->names[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    *end = range->address + range->length;
    if (low < out->name_count && out->names[low].start < *end) *end = out->names[low].start;
    while (low-- > 0) {
        const struct ntr_capture_named *n = &out->names[low];
        if (address - n->start > out->longest) return NULL;
        if (address >= n->end || from < n->from || (n->until && from >= n->until)) continue;
        if (n->end < *end) *end = n->end;
        return n;
    }
    return NULL;
}

/* The parts of a range that have different names are images of their own. */
static ntr_status add_named(struct code_file *out, const struct ntr_capture_code_range *range) {
    const uint64_t end = range->address + range->length;

    if (!out->name_count) return add_range(out, range);
    for (uint64_t at = range->address, stop; at < end; at = stop) {
        struct ntr_capture_code_range part = *range;
        out->named = name_at(out, range, at, &stop);
        part.address = at;
        part.length = stop - at;
        part.place += at - range->address;
        ntr_status status = add_range(out, &part);
        if (status != NTR_OK) return status;
    }
    return NTR_OK;
}

static bool read_names(struct code_file *out) {
    out->names = ntr_capture_generated_names(out->record, &out->name_count);
    for (size_t i = 0; i < out->name_count; i++)
        if (out->names[i].end - out->names[i].start > out->longest)
            out->longest = out->names[i].end - out->names[i].start;
    return out->names != NULL;
}

static ntr_status add_ranges(struct code_file *out) {
    const struct ntr_capture_code_range **ranges = sorted(out->record, out->code);
    ntr_status status = NTR_OK;

    if (!ranges) return ntr_capture_fail_memory(out->record->reason);
    for (size_t i = 0; i < out->code->range_count && status == NTR_OK; i++)
        if (!is_in_files(out, ranges[i])) status = add_named(out, ranges[i]);
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

    if (!out.name || !(out.files = files_of(record))) return ntr_capture_fail_memory(record->reason);
    snprintf(out.path, sizeof out.path, "%s/%s", ntr_bundle_folder(record->bundle), out.name);
    out.file = fopen(out.path, "we");
    if (!out.file) {
        ntr_program_free(out.files);
        return ntr_capture_fail_errno(record->reason, out.path);
    }
    ntr_status status = read_names(&out) ? add_ranges(&out) : ntr_capture_fail_memory(record->reason);
    ntr_program_free(out.files);
    ntr_dealloc(record->allocator, out.names);
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

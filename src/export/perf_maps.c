/* When what is mapped changes, for perf: files begin and end, and code without a file is executed where a file was. */
#include "export/perf_record.h"

#include "base/allocator.h"

#include <stdlib.h>

enum { INSTRUCTION_STEP = 2 };

/* Finds the next addresses of code without a file, from *first on, that no file names. */
static bool next_unnamed(const ntr_program *program, const ntr_image_info *image, size_t number, uint64_t *first,
                         uint64_t *end) {
    ntr_place place = ntr_program_image_place(program, number, *first);
    size_t naming;

    for (*end = *first; *end < image->high; *end += INSTRUCTION_STEP) {
        place.address = *end;
        const bool own = ntr_program_image_at(program, place, &naming) == NTR_OK && naming == number;
        if (!own && *end == *first)
            *first += INSTRUCTION_STEP;
        else if (!own)
            break;
    }
    return *end > *first;
}

bool ntr_perf_memory(const ntr_program *program, const ntr_image_info *image, size_t number, uint64_t *first,
                     uint64_t *end) {
    return *first < image->high && next_unnamed(program, image, number, first, end);
}

static bool is_over_file(const ntr_program *program, const ntr_image_info *image) {
    ntr_image_info other;

    for (size_t i = 0; ntr_program_image(program, i, &other) == NTR_OK; i++)
        if (other.path && image->low < other.high && other.low < image->high) return true;
    return false;
}

/* Files, and code without a file that was executed where a file is, or was, and that it does not name. */
static bool is_mapped(const ntr_program *program, const ntr_image_info *image, size_t number) {
    uint64_t first = image->low, end;
    return image->path || (is_over_file(program, image) && ntr_perf_memory(program, image, number, &first, &end));
}

static int by_position(const void *a, const void *b) {
    const ntr_perf_change *x = a, *y = b;
    if (x->position != y->position) return x->position > y->position ? 1 : -1;
    return (x->image > y->image) - (x->image < y->image);
}

ntr_status ntr_perf_changes_begin(ntr_perf_samples *s, const ntr_program *program) {
    ntr_image_info image;
    size_t images = 0;

    while (ntr_program_image(program, images, &image) == NTR_OK) images++;
    s->changes = ntr_alloc(s->allocator, 2 * images + 1, sizeof *s->changes);
    s->files = ntr_alloc(s->allocator, images + 1, sizeof *s->files);
    if (!s->changes || !s->files) return NTR_E_MEMORY;
    for (size_t i = 0; ntr_program_image(program, i, &image) == NTR_OK; i++) {
        if (image.path) s->files[s->file_count++] = i;
        if (!is_mapped(program, &image, i)) continue;
        s->changes[s->change_count++] = (ntr_perf_change){.position = image.options.from, .image = i};
        if (image.options.until)
            s->changes[s->change_count++] = (ntr_perf_change){.position = image.options.until, .image = i};
    }
    if (s->change_count) qsort(s->changes, s->change_count, sizeof *s->changes, by_position);
    return NTR_OK;
}

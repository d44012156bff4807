/* perf-PID.map of Linux: names of code generated at run time, lines "START SIZE NAME". */
#include "base/allocator.h"
#include "program/file.h"
#include "program/program.h"

#include <ntrace/program_files.h>
#include <string.h>

static unsigned digit_of(char c) {
    if (c >= '0' && c <= '9') return (unsigned)(c - '0');
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 16;
}

/* Parses a hexadecimal number of at most 64 bits and the space after it. Returns the rest, or NULL on error. */
static char *take_number(char *text, uint64_t *number) {
    if (text[0] == '0' && (text[1] | 0x20) == 'x') text += 2;
    char *at = text;
    for (*number = 0; digit_of(*at) < 16; at++) {
        if (*number >> 60) return NULL;
        *number = *number << 4 | digit_of(*at);
    }
    return at > text && *at == ' ' ? at + 1 : NULL;
}

static bool parse(char *line, uint64_t bias, ntr_name *name) {
    uint64_t start, size;
    char *rest = take_number(line, &start);
    if (rest) rest = take_number(rest, &size);
    if (!rest || !*rest) return false;
    *name = (ntr_name){.name = rest, .address = start + bias, .size = size, .function = true, .code = true};
    return true;
}

/* `text` has space for one more byte than `size`. Lines are converted to strings in place. */
static ntr_status read_lines(ntr_program *program, ntr_image *image, char *text, size_t size) {
    char *end = text + size;
    for (size_t number = 1; text < end; number++) {
        char *stop = memchr(text, '\n', (size_t)(end - text));
        bool complete = stop;
        if (!stop) stop = end;
        *stop = 0;
        ntr_name name;
        bool empty = text == stop;
        if (!empty && strlen(text) == (size_t)(stop - text) && parse(text, image->options.bias, &name)) {
            name.address = ntr_program_cut(program, name.address);
            if (ntr_symbols_add(&image->symbols, program->allocator, &name))
                return ntr_program_fail(program, NTR_E_MEMORY, image->path, "out of memory");
        } else if (!empty && complete) {
            return ntr_program_fail(program, NTR_E_FORMAT, image->path, "line %zu is not \"START SIZE NAME\"", number);
        }
        text = stop + 1;
    }
    if (ntr_symbols_sort_in_order(&image->symbols, program->allocator))
        return ntr_program_fail(program, NTR_E_MEMORY, image->path, "out of memory");
    return NTR_OK;
}

ntr_status ntr_program_add_perf_map(ntr_program *program, const char *path, const ntr_image_options *options) {
    void *mapping;
    size_t size;
    ntr_status status = ntr_program_map_file(program, path, &mapping, &size);
    if (status != NTR_OK) return status;
    status = ntr_program_add_image(program, path, options);
    if (status == NTR_OK) {
        ntr_image *image = &program->images[program->image_count - 1];
        image->generated = true;
        image->copy = ntr_alloc(program->allocator, size + 1, 1);
        if (image->copy) {
            memcpy(image->copy, mapping, size);
            status = read_lines(program, image, (char *)image->copy, size);
        } else {
            status = ntr_program_fail(program, NTR_E_MEMORY, path, "out of memory");
        }
        if (status == NTR_OK) status = ntr_program_complete_image(program);
        if (status != NTR_OK) ntr_program_drop_image(program);
    }
    ntr_file_unmap(mapping, size);
    return status;
}

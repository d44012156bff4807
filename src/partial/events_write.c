/* A partial with all events of a capture: its tables, then the blocks that a log has made. */
#include "partial/identity.h"
#include "partial/tables.h"

#include "base/allocator.h"

#include <ntrace/version.h>
#include <stdlib.h>
#include <string.h>

/* Adds the images with files: events are shown with the same ones. Their identities are the order of the table. */
static ntr_status add_images(ntr_partial_tables *t, const ntr_program *program) {
    ntr_image_info info;
    ntr_status status = NTR_OK;
    for (size_t i = 0; !status && ntr_program_image(program, i, &info) == NTR_OK; i++) {
        char *identity = NULL;
        if (!info.path) continue;
        status = ntr_image_identity(program, i, t->allocator, &identity);
        size_t known = 0;
        while (identity && known < t->image_count && strcmp(t->images[known].identity, identity) != 0) known++;
        const ntr_partial_image image = {identity, info.name, info.path, info.bias, info.options};
        if (identity && known == t->image_count && !ntr_tables_image(t, &image)) status = NTR_E_MEMORY;
        ntr_dealloc(t->allocator, identity);
    }
    return status;
}

static int by_identity(const void *a, const void *b) {
    return ntr_image_compare(a, b);
}

static ntr_status make_tables(ntr_partial_tables *t, const ntr_program *program, const ntr_partial_capture *capture,
                              unsigned holds) {
    static const char tool[] = "ntrace " NTR_VERSION_TEXT;
    t->holds = holds;
    t->tool = ntr_alloc(t->allocator, sizeof tool, 1);
    if (!t->tool || !ntr_tables_capture(t, capture)) return NTR_E_MEMORY;
    memcpy(t->tool, tool, sizeof tool);
    const ntr_status status = add_images(t, program);
    if (t->image_count) qsort(t->images, t->image_count, sizeof *t->images, by_identity);
    return status;
}

static ntr_status copy_blocks(ntr_partial_source *source, void *user, const ntr_output *output) {
    uint8_t bytes[1 << 14];
    size_t got = 0;
    ntr_status status;
    while ((status = source(user, bytes, sizeof bytes, &got)) == NTR_OK && got)
        if ((status = output->write(output->user, bytes, got)) != NTR_OK) break;
    return status;
}

ntr_status ntr_partial_write_events(const ntr_program *program, const ntr_partial_capture *capture,
                                    ntr_partial_source *source, void *user, const ntr_output *output,
                                    const ntr_allocator *allocator) {
    ntr_partial_tables tables = {.allocator = allocator};
    ntr_block_writer out;
    ntr_status status = make_tables(&tables, program, capture, NTR_PARTIAL_EVENTS);
    if (status == NTR_OK) {
        ntr_block_writer_start(&out, output, allocator);
        ntr_tables_put(&tables, &out);
        ntr_block_writer_flush(&out);
        if (!out.status) out.status = copy_blocks(source, user, output);
        status = ntr_block_writer_finish(&out);
    }
    ntr_tables_release(&tables);
    return status;
}

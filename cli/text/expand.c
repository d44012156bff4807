#include "text/expand.h"

#include <ntrace/isa.h>
#include <stdlib.h>
#include <string.h>

#define CACHE_BITS 13
#define TEXT_MAX   CLI_OUTPUT_ROOM /* longer expansions are made anew each time */
#define SOURCES    4096

_Static_assert(CLI_INSN_LINE_MAX <= TEXT_MAX, "a line fits the room");

struct key {
    uint64_t address;
    uint32_t instructions;
    uint16_t source;
    ntr_context context; /* zero-filled when no image is bound to a context */
};

struct entry {
    struct key key;
    char *text;
    uint32_t size, capacity; /* size 0: empty */
};

struct cli_expand {
    const ntr_program *program;
    cli_render render;
    void *user;
    bool by_source, by_context;
    uint64_t *changes; /* positions where an image comes or goes, ascending */
    size_t change_count, next_change;
    struct entry entries[1u << CACHE_BITS];
    char text[TEXT_MAX];
};

/* ---- when does the program look different? */

static int by_value(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static bool note_image(struct cli_expand *x, const ntr_image_options *image) {
    uint64_t *changes = realloc(x->changes, (x->change_count + 2) * sizeof *changes);

    if (!changes) return false;
    x->changes = changes;
    if (image->from) changes[x->change_count++] = image->from;
    if (image->until) changes[x->change_count++] = image->until;
    if (image->has_scontext || image->has_hcontext || image->has_prv) x->by_context = true;
    return true;
}

static bool note_images(struct cli_expand *x) {
    ntr_image_info info;

    for (size_t i = 0; ntr_program_image(x->program, i, &info) == NTR_OK; i++) {
        if (!note_image(x, &info.options)) return false;
    }
    if (x->change_count) qsort(x->changes, x->change_count, sizeof *x->changes, by_value);
    return true;
}

static void forget(struct cli_expand *x) {
    for (size_t i = 0; i < sizeof x->entries / sizeof x->entries[0]; i++) x->entries[i].size = 0;
}

/* Sources may be decoded apart and merged by time: positions then go back and forth, a little. */
static void pass_changes(struct cli_expand *x, uint64_t position) {
    while (x->next_change < x->change_count && position >= x->changes[x->next_change]) {
        x->next_change++;
        forget(x);
    }
    while (x->next_change && position < x->changes[x->next_change - 1]) {
        x->next_change--;
        forget(x);
    }
}

/* ---- life */

struct cli_expand *cli_expand_open(const ntr_program *program, cli_render render, void *user,
                                   bool by_source) {
    struct cli_expand *x = calloc(1, sizeof *x);

    if (!x) return NULL;
    x->program = program;
    x->render = render;
    x->user = user;
    x->by_source = by_source;
    if (note_images(x)) return x;
    cli_expand_close(x);
    return NULL;
}

void cli_expand_close(struct cli_expand *x) {
    if (!x) return;
    for (size_t i = 0; i < sizeof x->entries / sizeof x->entries[0]; i++) free(x->entries[i].text);
    free(x->changes);
    free(x);
}

/* ---- expansion */

static bool same_key(const struct key *a, const struct key *b) {
    return a->address == b->address && a->instructions == b->instructions && a->source == b->source &&
           ntr_context_equal(&a->context, &b->context);
}

static struct entry *entry_of(struct cli_expand *x, const ntr_event *span, struct key *key) {
    *key = (struct key){.address = span->address, .instructions = span->instructions};
    if (x->by_source) key->source = span->src;
    if (x->by_context) key->context = span->context;
    uint64_t mix = (span->address >> 1) + ((uint64_t)span->instructions << 40);
    return &x->entries[(mix * 0x9e3779b97f4a7c15u) >> (64 - CACHE_BITS)];
}

static void keep(struct entry *entry, const struct key *key, const char *text, size_t size) {
    entry->size = 0;
    if (entry->capacity < size) {
        char *grown = realloc(entry->text, size);
        if (!grown) return; /* it is only a cache */
        entry->text = grown;
        entry->capacity = (uint32_t)size;
    }
    memcpy(entry->text, text, size);
    entry->key = *key;
    entry->size = (uint32_t)size;
}

/* Read the instruction at insn->address. */
static bool fetch(struct cli_insn *insn, uint8_t bytes[32]) {
    size_t got = ntr_program_read(insn->program, insn->context, insn->position, insn->address, bytes, 32);

    if (got < 2) return false;
    unsigned size = ntr_insn_length((uint16_t)(bytes[0] | bytes[1] << 8));
    insn->bytes = bytes;
    insn->size = (uint8_t)size;
    return size <= got;
}

/* Render the span; returns the bytes left in x->text when all of it fitted there, 0 when it was written out
 * piece by piece. */
static size_t render_span(struct cli_expand *x, const ntr_event *span, struct cli_output *out, bool *complete) {
    struct cli_insn insn = {.program = x->program,
                            .context = &span->context,
                            .position = span->offset,
                            .address = span->address,
                            .source = span->src};
    uint8_t bytes[32];
    size_t used = 0;
    bool whole = true;

    *complete = true;
    for (uint32_t i = 0; i < span->instructions; i++) {
        if (!fetch(&insn, bytes)) {
            *complete = whole = false;
            break;
        }
        if (TEXT_MAX - used < CLI_INSN_LINE_MAX) {
            cli_output_write(out, x->text, used);
            used = 0;
            whole = false;
        }
        used += x->render(x->user, &insn, x->text + used);
        insn.address += insn.size;
    }
    if (whole) return used;
    cli_output_write(out, x->text, used);
    return 0;
}

bool cli_expand_span(struct cli_expand *x, const ntr_event *span, struct cli_output *out) {
    struct key key;
    bool complete;

    if (span->instructions == 0) return true;
    if (x->change_count) pass_changes(x, span->offset);
    struct entry *entry = entry_of(x, span, &key);
    if (!entry->size || !same_key(&entry->key, &key)) {
        size_t size = render_span(x, span, out, &complete);
        if (size == 0) return complete;
        keep(entry, &key, x->text, size);
        if (!entry->size) {
            cli_output_write(out, x->text, size);
            return true;
        }
    }
    memcpy(cli_output_reserve(out, entry->size), entry->text, entry->size);
    cli_output_commit(out, entry->size);
    return true;
}

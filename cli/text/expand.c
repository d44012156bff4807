#include "text/expand.h"

#include <stdlib.h>
#include <string.h>

#define CACHE_BITS 13
#define TEXT_MAX   CLI_OUTPUT_RESERVE_MAX /* largest cached text of a span, in bytes */

_Static_assert(CLI_INSN_LINE_MAX <= TEXT_MAX, "a line fits the buffer");

struct key {
    uint64_t address;
    uint64_t view; /* ntr_instructions_view */
    uint32_t instructions;
    uint32_t source;
};

struct entry {
    struct key key;
    char *text;
    uint32_t size, capacity; /* size 0: empty */
};

struct cli_expand {
    const ntr_program *program;
    ntr_instructions *instructions;
    cli_render render;
    void *user;
    bool by_source;
    struct entry entries[1u << CACHE_BITS];
    char text[TEXT_MAX];
};

struct cli_expand *cli_expand_open(const ntr_program *program, cli_render render, void *user, bool by_source) {
    struct cli_expand *x = calloc(1, sizeof *x);

    if (!x) return NULL;
    x->program = program;
    x->render = render;
    x->user = user;
    x->by_source = by_source;
    x->instructions = ntr_instructions_new(program, NULL);
    if (x->instructions) return x;
    cli_expand_close(x);
    return NULL;
}

void cli_expand_close(struct cli_expand *x) {
    if (!x) return;
    for (size_t i = 0; i < sizeof x->entries / sizeof x->entries[0]; i++) free(x->entries[i].text);
    ntr_instructions_free(x->instructions);
    free(x);
}

static struct key make_key(struct cli_expand *x, const ntr_event *span) {
    return (struct key){.address = span->address,
                        .view = ntr_instructions_view(x->instructions, span),
                        .instructions = span->instructions,
                        .source = x->by_source ? span->src : 0};
}

static struct entry *find_entry(struct cli_expand *x, const struct key *key) {
    uint64_t mix = (key->address >> 1) + ((uint64_t)key->instructions << 40);

    return &x->entries[(mix * 0x9e3779b97f4a7c15u) >> (64 - CACHE_BITS)];
}

static void store(struct entry *entry, const struct key *key, const char *text, size_t size) {
    entry->size = 0;
    if (!key->view) return;
    if (entry->capacity < size) {
        char *grown = realloc(entry->text, size);
        if (!grown) return; /* not cached */
        entry->text = grown;
        entry->capacity = (uint32_t)size;
    }
    memcpy(entry->text, text, size);
    entry->key = *key;
    entry->size = (uint32_t)size;
}

/* Renders the span. Returns the number of bytes in x->text if all of it fits there, or 0 if it was written to `out` in
 * parts. Sets *complete if the program has the bytes of all instructions. */
static size_t render_span(struct cli_expand *x, const ntr_event *span, struct cli_output *out, bool *complete) {
    struct cli_insn insn = {.program = x->program, .span = span};
    ntr_status status;
    size_t used = 0;
    bool fits = true;

    ntr_instructions_begin(x->instructions, span);
    while ((status = ntr_instructions_next(x->instructions, &insn.retired)) == NTR_OK) {
        if (TEXT_MAX - used < CLI_INSN_LINE_MAX) {
            cli_output_write(out, x->text, used);
            used = 0;
            fits = false;
        }
        used += x->render(x->user, &insn, x->text + used);
    }
    *complete = status == NTR_END;
    if (fits && *complete) return used;
    cli_output_write(out, x->text, used);
    return 0;
}

bool cli_expand_span(struct cli_expand *x, const ntr_event *span, struct cli_output *out) {
    bool complete;

    if (span->instructions == 0) return true;
    const struct key key = make_key(x, span);
    struct entry *entry = find_entry(x, &key);
    if (!entry->size || memcmp(&entry->key, &key, sizeof key) != 0) {
        size_t size = render_span(x, span, out, &complete);
        if (size == 0) return complete;
        store(entry, &key, x->text, size);
        if (!entry->size) {
            cli_output_write(out, x->text, size);
            return true;
        }
    }
    memcpy(cli_output_reserve(out, entry->size), entry->text, entry->size);
    cli_output_commit(out, entry->size);
    return true;
}

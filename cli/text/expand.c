#include "text/expand.h"
#include "text/text_cache.h"

#include <stdlib.h>
#include <string.h>

enum {
    SPAN_SLOT_BITS = 16,
    SPANS_AT_ONCE = 16,                        /* spans that are looked up at the same time */
    CONTEXTS_SHOWN = 64, /* text of further contexts is not cached, if it shows the context */
    TEXT_MAX = CLI_OUTPUT_RESERVE_MAX, /* largest cached text of a span, in bytes */
};

_Static_assert(CLI_INSN_LINE_MAX <= TEXT_MAX, "a line fits the buffer");

struct cli_expand {
    const ntr_program *program;
    ntr_instructions *instructions;
    cli_render render;
    void *user;
    bool by_source, by_context;
    ntr_context contexts[CONTEXTS_SHOWN]; /* with by_context */
    size_t context_count, latest;
    struct cli_text_cache cache;
    char text[TEXT_MAX];
};

struct cli_expand *cli_expand_open(const ntr_program *program, cli_render render, void *user, bool by_source,
                                   bool by_context) {
    struct cli_expand *x = calloc(1, sizeof *x);

    if (!x) return NULL;
    x->program = program;
    x->render = render;
    x->user = user;
    x->by_source = by_source;
    x->by_context = by_context;
    ntr_instructions_new(program, NULL, &x->instructions);
    if (x->instructions && cli_text_cache_open(&x->cache, SPAN_SLOT_BITS)) return x;
    cli_expand_close(x);
    return NULL;
}

void cli_expand_close(struct cli_expand *x) {
    if (!x) return;
    cli_text_cache_close(&x->cache);
    ntr_instructions_free(x->instructions);
    free(x);
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

/* ---- cached spans */

/* Returns a number from 1 on, or 0: there are too many contexts. */
static size_t context_number(struct cli_expand *x, const ntr_context *context) {
    if (x->latest && ntr_context_equal(&x->contexts[x->latest - 1], context)) return x->latest;
    for (size_t i = 0; i < x->context_count; i++)
        if (ntr_context_equal(&x->contexts[i], context)) return x->latest = i + 1;
    if (x->context_count == CONTEXTS_SHOWN) return 0;
    x->contexts[x->context_count++] = *context;
    return x->latest = x->context_count;
}

/* A key without a view is not stored. */
static inline struct cli_text_key make_key(struct cli_expand *x, const ntr_event *span, uint64_t view) {
    const uint64_t source = x->by_source ? span->src : 0,
                   context = x->by_context ? context_number(x, &span->context) : 1;

    return (struct cli_text_key){
        .a = span->address, .b = context ? view : 0, .c = source << 32 | span->instructions, .d = context};
}

/* Writes a span that is not in the cache, or that has a long text. */
static __attribute__((noinline)) bool write_span(struct cli_expand *x, const ntr_event *span,
                                                 struct cli_text_slot *slot, struct cli_text_key key,
                                                 struct cli_output *out) {
    bool complete = true;
    size_t size;

    if (span->instructions == 0) return true;
    const char *text = cli_text_cache_find(&x->cache, slot, &key, &size);
    if (!text) {
        text = x->text;
        size = render_span(x, span, out, &complete);
        if (size == 0) return complete;
        if (key.b)
            cli_text_cache_store(&x->cache, slot, &key, text, size); /* without a view it cannot be found again */
    }
    cli_output_write(out, text, size);
    return true;
}

static size_t write_batch(struct cli_expand *x, const ntr_event *spans, size_t count, struct cli_output *out) {
    struct cli_text_slot *slots[SPANS_AT_ONCE];
    uint64_t views[SPANS_AT_ONCE];
    size_t missing = 0;

    for (size_t i = 0; i < count; i++) views[i] = ntr_instructions_view(x->instructions, &spans[i]);
    for (size_t i = 0; i < count; i++) {
        slots[i] = cli_text_cache_slot(&x->cache, make_key(x, &spans[i], views[i]));
        cli_text_slot_fetch(slots[i]);
    }
    for (size_t i = 0; i < count; i++) {
        const struct cli_text_key key = make_key(x, &spans[i], views[i]);
        if (cli_text_slot_is_short(slots[i], key))
            cli_output_end(out, cli_text_slot_copy(slots[i], cli_output_reserve(out, CLI_TEXT_SHORT)));
        else
            missing += !write_span(x, &spans[i], slots[i], key, out);
    }
    return missing;
}

size_t cli_expand_spans(struct cli_expand *x, const ntr_event *spans, size_t count, struct cli_output *out) {
    size_t missing = 0;

    for (size_t i = 0; i < count; i += SPANS_AT_ONCE)
        missing += write_batch(x, spans + i, count - i < SPANS_AT_ONCE ? count - i : SPANS_AT_ONCE, out);
    return missing;
}

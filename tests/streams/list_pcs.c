/* list_pcs [options] TRACE ELF[@BIAS][,SCONTEXT]...: every program counter of a trace, one on each line; gaps and notes
 * to standard error. A tool for the corpus tests: it goes through the library alone.
 *
 *   -d DIALECT  -s SRC_BITS  -r IMPLICIT_RETURN  -i SOURCE (this one only)
 *   -b N (events a read)  -c (totals only)  -e (all events to standard error)  -q (no program counters)
 *   -t (addresses of in-circuit trace too)  -v (fail when counting, or many threads, differ) */
#include "parallels.h"
#include "put_address.h"

#include <ntrace/ntrace.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fail(const char *what, const char *why) {
    fprintf(stderr, "list_pcs: %s: %s\n", what, why);
    return 2;
}

static uint8_t *read_all(const char *path, size_t *size) {
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    uint8_t *data = NULL;
    size_t capacity = 0, n;
    *size = 0;
    if (!file) return NULL;
    do {
        if (*size == capacity) data = realloc(data, capacity = capacity ? 2 * capacity : 1 << 20);
        n = data ? fread(data + *size, 1, capacity - *size, file) : 0;
        *size += n;
    } while (n);
    if (file != stdin) fclose(file);
    return data;
}

static void print_span(ntr_instructions *instructions, const ntr_event *e) {
    ntr_instruction i;
    ntr_instructions_begin(instructions, e);
    while (ntr_instructions_next(instructions, &i) == NTR_OK) put_address(i.address, 1);
}

static void print_gap(const ntr_event *e) {
    fprintf(stderr,
            "gap src %u %s [%" PRIu64 ", %" PRIu64 ") messages [%" PRIu64 ", %" PRIu64 ") %s0x%" PRIx64
            " to %s0x%" PRIx64 "\n",
            e->src, ntr_status_name((ntr_status)e->reason), e->offset, e->gap.until, e->message, e->gap.until_message,
            e->gap.from_known ? "" : "?", e->gap.from_address, e->gap.to_known ? "" : "?", e->gap.to_address);
}

static void print_counts(const ntr_counts *c) {
    printf("instructions %" PRIu64 "\nhalfwords %" PRIu64 "\nspans %" PRIu64 "\nbranches %" PRIu64 "\ntaken %" PRIu64
           "\ncalls %" PRIu64 "\nreturns %" PRIu64 "\nexceptions %" PRIu64 "\ninterrupts %" PRIu64 "\ngaps %" PRIu64
           "\nmessages %" PRIu64 "\nbytes %" PRIu64 "\n",
           c->instructions, c->halfwords, c->spans, c->branches, c->taken, c->calls, c->returns, c->exceptions,
           c->interrupts, c->gaps, c->messages, c->bytes);
}

static void print_event(const ntr_event *e) {
    fprintf(stderr,
            "#%" PRIu64 " src %u %s %s code %u address 0x%" PRIx64 " target 0x%" PRIx64 " n %u hw %u time %" PRIu64
            "%s\n",
            e->message, e->src, ntr_event_kind_name(e->kind), ntr_span_end_name(e->end), e->code, e->address, e->target,
            e->instructions, e->halfwords, e->time, e->flags & NTR_EVENT_TIME ? "" : "?");
}

typedef struct options {
    ntr_decoder_config config;
    size_t capacity;
    bool quiet, totals, events, ict, verify;
} options;

enum { CAPACITY_MAX = 4096 };

static bool parse(options *o, int argc, char **argv) {
    const char *dialect = NULL;
    int src_bits = -1, returns = -1;
    *o = (options){.config.size = sizeof o->config, .capacity = CAPACITY_MAX};
    for (int c; (c = getopt(argc, argv, "d:s:r:i:b:qcetv")) != -1;) {
        switch (c) {
        case 'd': dialect = optarg; break;
        case 's': src_bits = atoi(optarg); break;
        case 'r': returns = atoi(optarg); break;
        case 'i':
            o->config.one_source = true;
            o->config.source = (uint16_t)atoi(optarg);
            break;
        case 'b': o->capacity = (size_t)atoi(optarg); break;
        case 'q': o->quiet = true; break;
        case 'c': o->totals = true; break;
        case 'e': o->events = true; break;
        case 't': o->ict = true; break;
        case 'v': o->verify = true; break;
        default: return false;
        }
    }
    ntr_params *params = &o->config.params;
    ntr_params_init(params, dialect ? ntr_dialect_find(dialect) : NULL);
    if (src_bits >= 0) params->src_bits = (uint8_t)src_bits;
    if (returns >= 0) params->implicit_return = (uint8_t)returns;
    return argc - optind >= 2 && o->capacity > 0 && o->capacity <= CAPACITY_MAX;
}

static bool add_image(ntr_program *program, char *file) {
    ntr_image_options image = {.size = sizeof image};
    char *context = strchr(file, ','), *at = strchr(file, '@');
    if (context) {
        *context = 0;
        image.has_scontext = true;
        image.scontext = strtoull(context + 1, NULL, 0);
    }
    if (at) {
        *at = 0;
        image.bias = strtoull(at + 1, NULL, 0);
    }
    return ntr_program_add_elf(program, file, &image) == NTR_OK;
}

/* Whether this event is trouble. */
static bool report(const options *o, ntr_instructions *instructions, const ntr_event *e) {
    if (o->events) print_event(e);
    switch (e->kind) {
    case NTR_EVENT_SPAN:
        if (!o->quiet) print_span(instructions, e);
        return false;
    case NTR_EVENT_ICT:
        if (o->ict && !(e->flags & NTR_EVENT_ADDRESS_UNKNOWN)) put_address(e->data_address, 1);
        return false;
    case NTR_EVENT_GAP: print_gap(e); return true;
    case NTR_EVENT_NOTE:
        fprintf(stderr, "note %s at %" PRIu64 "\n", ntr_status_name((ntr_status)e->reason), e->offset);
        return true;
    default: return false;
    }
}

static ntr_status list(const options *o, ntr_decoder *decoder, const ntr_program *program, bool *trouble,
                       ntr_counts *totals) {
    static ntr_event events[CAPACITY_MAX];
    ntr_instructions *instructions;
    ntr_instructions_new(program, NULL, &instructions);
    ntr_status status;
    do {
        size_t count;
        status = ntr_decoder_read(decoder, events, o->capacity, &count);
        for (size_t i = 0; i < count; i++) {
            *trouble |= report(o, instructions, &events[i]);
            totals_add(totals, &events[i], o->config.params.dialect);
        }
    } while (status == NTR_OK);
    ntr_instructions_free(instructions);
    return status;
}

int main(int argc, char **argv) {
    options o;
    if (!parse(&o, argc, argv)) return fail("usage", "list_pcs [options] TRACE ELF[@BIAS][,SCONTEXT]...");
    ntr_program *program;
    ntr_program_new(NULL, &program);
    o.config.program = program;
    for (int i = optind + 1; i < argc; i++)
        if (!add_image(program, argv[i])) return fail(argv[i], ntr_program_error(program));
    size_t size;
    uint8_t *data = read_all(argv[optind], &size);
    if (!data) return fail(argv[optind], "cannot read");
    ntr_decoder *decoder;
    ntr_status status = ntr_decoder_new(&o.config, &decoder);
    if (!decoder) return fail("decoder", ntr_status_text(status));
    ntr_decoder_feed(decoder, data, size, true);
    bool trouble = false;
    if (o.totals) {
        ntr_counts counts = {0};
        status = ntr_decoder_count(decoder, &counts);
        print_counts(&counts);
    } else {
        ntr_counts totals = {0};
        status = list(&o, decoder, program, &trouble, &totals);
        const char *differs = o.verify ? tallies_differ(&o.config, (ntr_bytes){data, size}) : NULL;
        ntr_parallel_stats stats;
        if (o.verify && !differs) differs = parallels_differ(&o.config, (ntr_bytes){data, size}, 2, 4096, &stats);
        if (differs) {
            ntr_decoder_free(decoder);
            return fail("another way to decode", differs);
        }
    }
    ntr_decoder_free(decoder);
    ntr_program_free(program);
    free(data);
    if (status != NTR_END) return fail("decoder", ntr_status_text(status));
    return trouble;
}

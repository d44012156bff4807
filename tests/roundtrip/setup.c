#include "setup.h"
#include <stdlib.h>

static bool coin(prng *r) {
    return prng_next(r) & 1;
}

static bool one_in(prng *r, unsigned n) {
    return prng_below(r, n) == 0;
}

static void choose_optimizations(prng *r, ntr_encoder_config *c) {
    c->mode = coin(r) ? NTR_INST_MODE_BTM : NTR_INST_MODE_HTM;
    c->params.sequential_jump = coin(r);
    c->params.extend_addr = coin(r);
    c->params.all_jumps = one_in(r, 6);
    c->itype_width = one_in(r, 4) ? 3 : 4;
    if (c->itype_width == 4 && coin(r)) {
        c->params.implicit_return = (uint8_t)prng_range(r, NTR_RETURN_COUNT, NTR_RETURN_FULL);
        c->params.return_stack = one_in(r, 3) ? 0 : prng_range(r, 1, 32);
        c->compare_bits = one_in(r, 3) ? 0 : (uint8_t)prng_range(r, 4, 24);
    }
    c->repeated_history = coin(r);
    c->history_repeats = c->repeated_history ? (uint8_t)(coin(r) + coin(r)) : 0;
    c->empty_cdf_0 = one_in(r, 6);
    c->repeat_branch = c->repeated_history && c->mode == NTR_INST_MODE_HTM && coin(r);
    c->icnt_full_sync = c->mode == NTR_INST_MODE_BTM && one_in(r, 4);
    c->full_after = coin(r);
    c->hist_first = coin(r);
    c->empty_hist = coin(r);
    c->btype_detail = coin(r);
    c->announce = coin(r);
}

static void choose_widths(prng *r, ntr_encoder_config *c) {
    c->icnt_bits = one_in(r, 3) ? (uint8_t)prng_range(r, 4, 22) : 0;
    c->hist_bits = coin(r) ? (uint8_t)prng_range(r, 2, coin(r) ? 8 : 32) : 0;
    c->hrepeat_bits = one_in(r, 3) ? (uint8_t)prng_range(r, 2, 18) : 0;
    c->bcnt_bits = one_in(r, 3) ? (uint8_t)prng_range(r, 2, 18) : 0;
}

static void choose_sync(prng *r, ntr_encoder_config *c) {
    static const uint8_t starts[] = {1, 3, 5, 9};
    c->sync_mode =
        one_in(r, 3) ? NTR_SYNC_MODE_OFF : (uint8_t)prng_range(r, NTR_SYNC_MODE_MESSAGES, NTR_SYNC_MODE_HALFWORDS);
    c->sync_max = (uint8_t)prng_below(r, one_in(r, 4) ? 16 : 5);
    c->sync_exact = coin(r);
    c->start_sync = one_in(r, 3) ? PRNG_PICK(r, starts) : NTR_SYNC_TRACE_ENABLE;
    c->stop_evcode = coin(r) ? NTR_EVCODE_DEBUG : NTR_EVCODE_DISABLED;
    c->trigger_enable = coin(r);
    c->ownership = (uint8_t)prng_below(r, 3);
    c->scontext_first = coin(r);
}

static void choose_time(prng *r, ntr_encoder_config *c) {
    if (one_in(r, 3)) {
        c->params.timestamps = NTR_TIMESTAMPS_OFF;
        return;
    }
    c->params.timestamps = NTR_TIMESTAMPS_ON;
    c->params.ts_width = one_in(r, 3) ? (uint8_t)prng_range(r, 16, 63) : 0;
    c->ts_prescale = one_in(r, 3) ? (uint8_t)prng_below(r, 4) : 0;
    c->ts_messages = coin(r) ? NTR_TS_MESSAGE_ALL : (uint8_t)prng_below(r, NTR_TS_MESSAGE_ALL + 1);
}

static void choose_fifo(prng *r, ntr_encoder_config *c) {
    if (!one_in(r, 3)) return;
    c->fifo_bytes = prng_range(r, 76, 400);
    c->fifo_restart = coin(r) ? 0 : prng_below(r, c->fifo_bytes);
    c->stall = one_in(r, 4);
    c->drain_bytes = one_in(r, 4) ? 0 : prng_range(r, 1, 16);
    c->drain_cycles = prng_range(r, 1, 12);
}

static void set(ntr_encoder_config *c, const char *name, const char *value) {
    if (ntr_encoder_option_set(c, name, value)) abort();
}

/* What only the dialects have; every parameter that a decoder must know is tried with each. */
static void choose_dialect(prng *r, ntr_encoder_config *c) {
    static const char *const names[] = {"andes", "xuantie", "microblaze-v", "ctte"};
    bool htm = c->mode == NTR_INST_MODE_HTM;
    const char *name = PRNG_PICK(r, names);
    c->params.dialect = ntr_dialect_find(name);
    c->params.ts_rule = one_in(r, 3) ? (uint8_t)prng_range(r, NTR_TS_RULE_DIFFERENCE, NTR_TS_RULE_ABSOLUTE) : 0;
    if (c->params.ts_rule == NTR_TS_RULE_ABSOLUTE) c->params.ts_width = 0;
    c->params.ts_fixed = c->params.ts_width && coin(r);
    c->params.no_addr_diff = coin(r);
    if (coin(r)) {
        static const uint8_t widths[] = {48, 57, 64}; /* enough for every address of the programs */
        c->params.extend_addr = false;
        c->params.addr_bits = PRNG_PICK(r, widths);
    }
    if (c->params.dialect->messages & NTR_MESSAGES_CTTE && htm) {
        c->params.branch_predictor = one_in(r, 3) ? 0 : (uint8_t)prng_range(r, 1, one_in(r, 3) ? 15 : 6);
        c->params.jump_cache = one_in(r, 3) ? 0 : (uint8_t)prng_range(r, 1, one_in(r, 3) ? 15 : 6);
        c->repeat_instruction = coin(r);
        if (c->repeat_instruction) c->params.all_jumps = false;
    }
    if (c->params.dialect->messages & NTR_MESSAGES_CTTE) c->device_id = coin(r) ? 0x12345678 : 0;
    if (c->params.branch_predictor) c->repeated_history = c->params.all_jumps = false;
    c->frame_bytes = one_in(r, 3) ? (uint16_t)prng_range(r, 64, 960) : 0;
    c->frame_closes = c->frame_bytes && coin(r);
}

/* This hardware has few choices. */
static void choose_ttdfd(prng *r, ntr_encoder_config *c) {
    ntr_encoder_config_init(c);
    set(c, "dialect", "tt-dfd");
    choose_time(r, c);
    c->params.ts_width = 0;
    c->ts_messages = NTR_TS_MESSAGE_ALL;
    c->trigger_enable = coin(r);
    c->sync_mode =
        one_in(r, 3) ? NTR_SYNC_MODE_OFF : (uint8_t)prng_range(r, NTR_SYNC_MODE_MESSAGES, NTR_SYNC_MODE_HALFWORDS);
    c->sync_max = (uint8_t)prng_below(r, one_in(r, 4) ? 16 : 5);
    choose_fifo(r, c);
}

static gen_port_options choose_port(prng *r, const ntr_encoder_config *c, unsigned instructions) {
    gen_port_options o = {.itype_width = c->itype_width,
                          .all_jumps = c->params.all_jumps,
                          .retires = prng_range(r, 1, coin(r) ? 2 : 12),
                          .blocks = prng_range(r, 1, coin(r) ? 1 : 4)};
    unsigned length = one_in(r, 12) ? 30000 : one_in(r, 4) ? 4000 : prng_range(r, 1, 600);
    o.instructions = instructions ? instructions : length;
    if (coin(r)) {
        o.exceptions = prng_below(r, one_in(r, 4) ? 200 : 12);
        o.interrupts = prng_below(r, one_in(r, 4) ? 200 : 12);
        o.no_iaddr = one_in(r, 4) ? 300 : 0;
    }
    if (coin(r)) o.notifies = prng_below(r, 20);
    if (coin(r)) o.triggers = prng_below(r, 40);
    if (one_in(r, 3)) o.external = prng_below(r, 30);
    if (one_in(r, 3)) o.switches = prng_below(r, 40);
    if (one_in(r, 4)) o.requests = prng_below(r, 20);
    if (one_in(r, 3)) o.halts = prng_below(r, 20);
    if (one_in(r, 4)) o.resets = prng_below(r, 12);
    o.idles = one_in(r, 4) ? prng_below(r, 100) : 0;
    o.ticks = one_in(r, 4) ? prng_below(r, 50) : 0;
    return o;
}

/* Stream parameters are the same for all harts. */
static void choose_config(prng *r, ntr_encoder_config *c, const setup_wish *wish) {
    ntr_encoder_config_init(c);
    choose_optimizations(r, c);
    choose_widths(r, c);
    choose_sync(r, c);
    choose_time(r, c);
    choose_fifo(r, c);
    bool standard = wish->standard || wish->steady;
    if (!standard && one_in(r, 3))
        choose_dialect(r, c);
    else if (!standard && one_in(r, 6))
        choose_ttdfd(r, c);
    if (wish->steady) {
        c->fifo_bytes = c->fifo_restart = c->drain_bytes = c->drain_cycles = 0;
        c->stall = false;
        c->sync_mode = coin(r) ? NTR_SYNC_MODE_MESSAGES : NTR_SYNC_MODE_HALFWORDS;
        c->sync_max = (uint8_t)(c->sync_mode == NTR_SYNC_MODE_MESSAGES ? prng_below(r, 4) : prng_range(r, 3, 7));
    }
}

static void add_hart(setup *s, unsigned index, const ntr_encoder_config *config, unsigned instructions,
                     uint64_t data_seed) {
    setup_hart *h = &s->hart[index];
    prng *r = &s->random;
    bool exact = config->params.implicit_return == NTR_RETURN_COUNT;
    gen_hart_options options = {.wrong_returns = !exact && coin(r), .supervisor = coin(r), .hypervisor = one_in(r, 3)};
    if (config->params.implicit_return == NTR_RETURN_PARTIAL)
        options.compare_bits = config->compare_bits ? config->compare_bits : 16;
    h->config = *config;
    h->config.src_id = (uint16_t)index;
    h->data_seed = data_seed ? data_seed + index : 0;
    gen_hart *hart = gen_hart_new(s->graph, &options, r);
    gen_port_options port = choose_port(r, config, instructions);
    h->run = gen_run_new(hart, &port, r);
    gen_hart_free(hart);
    h->truth = truth_new(h->run, &(truth_options){config->trigger_enable, config->start_sync, config->stop_evcode});
}

/* Loads and stores, where there are messages for them. What else the seed decides stays the same. Returns the seed of
 * the accesses; 0: none. */
static uint64_t choose_data(uint64_t seed, ntr_encoder_config *c) {
    prng r = {.state = seed ^ UINT64_C(0x9e3779b97f4a7c15)};
    if (one_in(&r, 2)) return 0;
    if (!c->params.dialect || c->params.dialect == ntr_dialect_find("ntrace-1.0"))
        c->params.dialect = ntr_dialect_find("nexus-data");
    return c->params.dialect->messages & NTR_MESSAGES_DATA ? prng_next(&r) | 1 : 0;
}

static ntr_program *make_program(const gen_graph *graph) {
    ntr_program *program;
    ntr_program_new(NULL, &program);
    for (unsigned i = 0; program && i < graph->regions; i++) {
        const gen_region *region = &graph->region[i];
        ntr_image_options options = {.size = sizeof options,
                                     .bias = region->base,
                                     .has_isa = true,
                                     .isa = graph->options.xlen == 32 ? NTR_ISA_RV32 : 0};
        if (region->size && ntr_program_add_raw(program, (ntr_bytes){region->bytes, region->size}, &options)) abort();
    }
    if (!program) abort();
    return program;
}

setup *setup_new(uint64_t seed, const setup_wish *wish) {
    setup *s = calloc(1, sizeof *s);
    ntr_encoder_config config;
    if (!s) abort();
    s->random = (prng){seed * UINT64_C(0x2545f4914f6cdd1d) + 1, wish->tape};
    prng *r = &s->random;
    choose_config(r, &config, wish);
    uint64_t data_seed = wish->data ? choose_data(seed, &config) : 0;
    gen_graph_options graph = {.xlen = one_in(r, 3) ? 32 : 64,
                               .compressed = !one_in(r, 4),
                               .far = coin(r),
                               .odd_returns = config.params.implicit_return != NTR_RETURN_COUNT,
                               .functions = prng_range(r, 1, coin(r) ? 4 : GEN_FUNCTIONS_MAX),
                               .size = prng_range(r, 1, 12)};
    s->graph = gen_graph_new(&graph, r);
    s->program = make_program(s->graph);
    config.params.xlen = (uint8_t)graph.xlen;
    for (unsigned i = 0; i < s->graph->regions && config.params.addr_bits; i++)
        if (graph.xlen == 64 && (int64_t)(s->graph->region[i].base << 16) >> 16 != (int64_t)s->graph->region[i].base)
            config.params.addr_bits = 64;
    s->harts = !wish->steady && one_in(r, 6) ? prng_range(r, 2, SETUP_HARTS_MAX) : 1;
    bool few = config.params.dialect && config.params.dialect->messages & NTR_MESSAGES_CTTE; /* SRC of at most 4 bits */
    bool given = config.params.dialect && config.params.dialect->trap_value; /* ... of exactly 4 bits */
    unsigned most = few ? 4 : 12;
    if (!given)
        config.params.src_bits = s->harts > 1   ? (uint8_t)prng_range(r, 2, most)
                                 : one_in(r, 3) ? (uint8_t)prng_range(r, 1, most)
                                                : 0;
    s->params = config.params;
    for (unsigned i = 0; i < s->harts; i++) add_hart(s, i, &config, wish->instructions, data_seed);
    return s;
}

void setup_free(setup *s) {
    for (unsigned i = 0; i < s->harts; i++) {
        gen_run_free(s->hart[i].run);
        truth_free(s->hart[i].truth);
    }
    ntr_program_free(s->program);
    gen_graph_free(s->graph);
    free(s);
}

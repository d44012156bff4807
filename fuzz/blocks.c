/* Blocks: option lines, then an execution of made-up code, fed block by block and in runs: the messages are the same.
 */
#include "encoder/run.h"
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BASE = 0x1000, STACK = 64, RUN_BRANCHES = 60, OPTION_TEXT = 160 };

size_t fuzz_stream_at(const uint8_t *data, size_t size) {
    (void)data, (void)size;
    return SIZE_MAX;
}

/* The value of an option, set again, changes nothing. */
static void again(const ntr_encoder_config *config) {
    const ntr_encoder_option *option;
    for (size_t i = 0; (option = ntr_encoder_option_at(i)); i++) {
        char text[OPTION_TEXT], same[OPTION_TEXT];
        ntr_encoder_config copy = *config;
        if (ntr_encoder_option_get(config, option->name, text, sizeof text) < 0) continue;
        ntr_status status = ntr_encoder_option_set(&copy, option->name, text);
        if (status == NTR_E_RANGE) continue; /* xlen 0: from the program */
        fuzz_must(status == NTR_OK, "the value of an option can be set");
        ntr_encoder_option_get(&copy, option->name, same, sizeof same);
        fuzz_must(strcmp(text, same) == 0, "an option returns the value that was set");
    }
}

typedef struct block_walk {
    fuzz_tape *tape;
    uint64_t pc, stack[STACK];
    unsigned depth;
} block_walk;

/* Two bytes for each block: how it ends, its size, and its target. */
static bool next_block(block_walk *w, ntr_ingress *out) {
    static const uint8_t kinds[] = {NTR_ITYPE_NONE,        NTR_ITYPE_NOT_TAKEN,      NTR_ITYPE_TAKEN,
                                    NTR_ITYPE_DIRECT_JUMP, NTR_ITYPE_DIRECT_CALL,    NTR_ITYPE_INDIRECT_CALL,
                                    NTR_ITYPE_RETURN,      NTR_ITYPE_OTHER_INDIRECT, NTR_ITYPE_CO_SWAP};
    if (w->tape->at >= w->tape->size) return false;
    uint8_t kind = fuzz_byte(w->tape), place = fuzz_byte(w->tape);
    *out = (ntr_ingress){.iaddr = w->pc, .itype = kinds[kind % sizeof kinds], .priv = NTR_PRIV_U, .cycle = true};
    out->ilastsize = place & 1;
    out->iretire = out->ilastsize + 1u + (kind & 0x80 ? 0x3000 : place >> 4);
    uint64_t end = out->iaddr + 2 * (uint64_t)out->iretire;
    w->pc = BASE + 64 * (uint64_t)place;
    if (out->itype == NTR_ITYPE_NONE || out->itype == NTR_ITYPE_NOT_TAKEN) w->pc = end;
    if (out->itype == NTR_ITYPE_DIRECT_CALL || out->itype == NTR_ITYPE_INDIRECT_CALL)
        w->stack[w->depth++ % STACK] = end;
    if (out->itype == NTR_ITYPE_RETURN && w->depth && place & 2) w->pc = w->stack[--w->depth % STACK];
    return true;
}

/* Does a block that leads to `next` need no message? The return stack follows. */
static bool continues(ntr_encoder *encoder, const ntr_encoder_config *config, const ntr_ingress *block, uint64_t next) {
    switch (block->itype) {
    case NTR_ITYPE_NONE:
    case NTR_ITYPE_NOT_TAKEN:
    case NTR_ITYPE_DIRECT_JUMP: return true;
    case NTR_ITYPE_TAKEN: return config->mode == NTR_INST_MODE_HTM;
    case NTR_ITYPE_DIRECT_CALL:
        ntr_enc_extend_by_call(encoder, block->iaddr + 2 * (uint64_t)block->iretire);
        return true;
    case NTR_ITYPE_RETURN: return ntr_enc_extend_by_return(encoder, next);
    default: return false;
    }
}

static bool is_branch(const ntr_ingress *block) {
    return block->itype == NTR_ITYPE_TAKEN || block->itype == NTR_ITYPE_NOT_TAKEN;
}

/* A run that grows until a block needs a message. */
typedef struct grower {
    ntr_encoder *encoder;
    const ntr_encoder_config *config;
    ntr_enc_run run;
    ntr_ingress last;
} grower;

static void send_run(grower *g) {
    if (!g->run.iretire) return;
    g->run.itype = g->last.itype;
    ntr_enc_push_run(g->encoder, &g->run);
    g->run = (ntr_enc_run){0};
}

static void grow(grower *g, const ntr_ingress *block, bool alone) {
    ntr_enc_run *run = &g->run;
    bool full = run->branches == RUN_BRANCHES || run->iretire + block->iretire >= 1u << 15;
    bool ends = alone || full || (run->iretire && !continues(g->encoder, g->config, &g->last, block->iaddr));
    if (run->iretire && ends) send_run(g);
    if (!run->iretire) ntr_enc_begin_run(g->encoder, block->iaddr, block->time);
    if (run->iretire && is_branch(&g->last)) {
        run->outcomes = run->outcomes << 1 | (g->last.itype == NTR_ITYPE_TAKEN);
        run->branches++;
    }
    if (!run->iretire) run->iaddr = block->iaddr;
    run->iretire += block->iretire;
    run->end = block->iaddr + 2 * (uint64_t)block->iretire;
    run->ilastsize = block->ilastsize;
    g->last = *block;
}

static void finish(ntr_encoder *encoder, const ntr_encoder_config *config, uint64_t next) {
    ntr_encoder_stop(encoder, next, config->stop_evcode);
    ntr_encoder_flush(encoder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_tape tape = {data, size, 0};
    fuzz_bytes one = {NULL, 0, 0}, other = {NULL, 0, 0};
    ntr_encoder_config config, config_other;
    ntr_encoder_config_init(&config);
    fuzz_encoder_options(&tape, &config);
    again(&config);
    config.sink = fuzz_take_message;
    config.sink_user = &one;
    config_other = config;
    config_other.sink_user = &other;
    uint8_t alone = fuzz_byte(&tape);
    ntr_encoder *blocks, *runs;
    ntr_encoder_new(&config, &blocks);
    ntr_encoder_new(&config_other, &runs);
    bool in_runs = runs && ntr_enc_takes_runs(runs), fits = true;
    grower g = {.encoder = runs, .config = &config};
    block_walk w = {.tape = &tape, .pc = BASE};
    ntr_ingress block;
    uint64_t halfwords = 0;
    while (blocks && next_block(&w, &block)) {
        ntr_status status = ntr_encoder_push(blocks, &block);
        fuzz_must(status != NTR_E_INGRESS || config.itype_width == 3, "a valid block is accepted");
        halfwords += block.iretire;
        if (in_runs) grow(&g, &block, alone && w.tape->at % alone == 0);
    }
    if (in_runs) send_run(&g);
    /* A full I-CNT, and a synchronizing message that is late, are sent at different places. */
    fits = halfwords + 1 < 1ull << (config.icnt_bits - config.full_after) &&
           (config.sync_mode != NTR_SYNC_MODE_HALFWORDS || halfwords < 2ull << (config.sync_max + 4));
    if (blocks) finish(blocks, &config, w.pc);
    if (in_runs) {
        finish(runs, &config, w.pc);
        bool same = one.size == other.size && (!one.size || memcmp(one.data, other.data, one.size) == 0);
        fuzz_must(same || !fits || config.params.timestamps == NTR_TIMESTAMPS_ON,
                  "runs make the messages of their blocks");
    }
    ntr_encoder_free(blocks);
    ntr_encoder_free(runs);
    free(one.data);
    free(other.data);
    return 0;
}

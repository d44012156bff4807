/* roundtrip [-s SEED] [-n COUNT] [-l INSTRUCTIONS] [-f FILE] [-o NAME] [-v]: random programs through the encoder and
 * back through two decoders; both must report the execution.
 *
 *   -s SEED   first seed (1)              -l COUNT  instructions in every run (chosen by the seed)
 *   -n COUNT  how many seeds (1)          -f FILE   seeds that once failed, one a line, before the others
 *   -v        print one run: settings, ingress, transcript
 *   -o NAME   write its stream to NAME.nex and its code to NAME-ADDRESS.bin
 *
 * Speaks TAP, 100 seeds a test. A failing seed prints the command that repeats it. */
#include "../streams/parallels.h"
#include "judge.h"
#include "middle.h"
#include "setup.h"
#include <inttypes.h>
#include <ntrace/check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SEEDS_PER_TEST 100

typedef struct options {
    uint64_t seed, count;
    setup_wish wish;
    bool verbose;
    const char *output;
} options;

typedef struct totals {
    uint64_t instructions, bytes, syncs, losses, accesses;
} tally;

static const char *const kind_name[] = {"pc", "trap", "sync", "stop", "context", "overflow", "lost", "note", "access"};

static void print_config(const setup *s) {
    const ntr_encoder_option *option;
    char value[256];
    printf("# xlen %u, %u regions, %u functions, %u harts\n#", s->graph->options.xlen, s->graph->regions,
           s->graph->functions, s->harts);
    for (size_t i = 0; (option = ntr_encoder_option_at(i)); i++)
        if (ntr_encoder_option_get(&s->hart[0].config, option->name, value, sizeof value) >= 0)
            printf(" %s=%s", option->name, value);
    putchar('\n');
}

static void print_run(const gen_run *run) {
    static const char *const name[] = {"block", "tracing", "trigger", "sync", "tick"};
    for (size_t i = 0; i < run->ops; i++) {
        const gen_op *op = &run->op[i];
        const ntr_ingress *b = &op->block;
        if (op->kind == GEN_OP_BLOCK)
            printf("#  %zu 0x%" PRIx64 "%s +%u itype %u last %u priv %u context %" PRIu64 " %" PRIu64
                   " ctype %u time %" PRIu64 " trigger %u%s%s%s%s%s next 0x%" PRIx64 "\n",
                   i, b->iaddr, b->no_iaddr ? "?" : "", b->iretire, b->itype, b->ilastsize, b->priv, b->scontext,
                   b->hcontext, b->ctype, b->time, b->trigger, b->cycle ? " cycle" : "", b->sijump ? " sijump" : "",
                   b->halted ? " halted" : "", b->reset ? " reset" : "", op->qualified ? "" : " filtered", op->next);
        else
            printf("#  %zu %s %u\n", i, name[op->kind], op->value);
    }
}

static void print_told(const transcript *t, const char *who) {
    for (size_t i = 0; i < t->events; i++) {
        const oracle_event *e = &t->event[i];
        printf("#  %s %zu: src %u byte %" PRIu64 " %s %s0x%" PRIx64 " code %u time %" PRIu64 " %s\n", who, i, e->src,
               e->offset, kind_name[e->kind], e->known ? "" : "?", e->pc, e->code, e->has_time ? e->time : 0,
               e->reason ? ntr_status_name(e->reason) : "");
    }
}

static void write_file(const char *name, const char *suffix, uint64_t address, const uint8_t *bytes, size_t size) {
    char path[512];
    if (address)
        snprintf(path, sizeof path, "%s-0x%" PRIx64 "%s", name, address, suffix);
    else
        snprintf(path, sizeof path, "%s%s", name, suffix);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file)) perror(path);
}

static void write_all(const char *name, const setup *s, const setup_stream *stream) {
    write_file(name, ".nex", 0, stream->bytes, stream->size);
    for (unsigned i = 0; i < s->graph->regions; i++)
        write_file(name, ".bin", s->graph->region[i].base, s->graph->region[i].bytes, s->graph->region[i].size);
}

/* The counting decode must come to the same totals as the events. */
static verdict judge_counts(const setup *s, const transcript *reported, ntr_bytes stream, prng *random) {
    ntr_counts counts;
    uint64_t instructions = 0;
    verdict v = {.good = false};
    for (size_t i = 0; i < reported->events; i++) instructions += reported->event[i].kind == ORACLE_PC;
    if (!transcript_counts(&s->params, s->program, stream, random, &counts))
        snprintf(v.why, sizeof v.why, "the counting decode fails");
    else if (counts.instructions != instructions)
        snprintf(v.why, sizeof v.why, "counted %" PRIu64 " instructions, reported %" PRIu64, counts.instructions,
                 instructions);
    else
        v.good = true;
    return v;
}

typedef struct inspection {
    const ntr_encoder_config *config;
    verdict verdict;
} inspection;

/* Encoders with the option empty_cdf_0 send CDF 0. */
static bool is_wanted(const inspection *i, const ntr_finding *f) {
    return (strcmp(f->rule->id, "cdf-htm") == 0 && i->config->empty_cdf_0) ||
           (strcmp(f->rule->id, "ownership-order") == 0 && i->config->scontext_first);
}

static void find_fault(void *user, const ntr_finding *f) {
    inspection *i = user;
    verdict *v = &i->verdict;
    if (f->severity != NTR_SEVERITY_ERROR || !v->good || is_wanted(i, f)) return;
    v->good = false;
    snprintf(v->why, sizeof v->why, "message %" PRIu64 " at byte %" PRIu64 " breaks %s: %s", f->message, f->offset,
             f->rule->id, f->rule->about);
}

/* The stream violates no rule of the specification. */
static verdict judge_rules(const setup *s, ntr_bytes stream) {
    inspection i = {.config = &s->hart[0].config, .verdict.good = true};
    ntr_check_config config = {
        .size = sizeof config, .params = s->params, .program = s->program, .found = find_fault, .user = &i};
    ntr_check *check;
    ntr_check_new(&config, &check);
    if (!check || ntr_check_feed(check, stream.data, stream.size, true) != NTR_OK)
        i.verdict = (verdict){.good = false, .why = "the check fails"};
    ntr_check_free(check);
    return i.verdict;
}

/* Counting gives the spans of the events, and many threads give the events of one, for the stream and a damaged copy.
 */
static verdict judge_ways(const setup *s, ntr_bytes stream, prng *random) {
    const ntr_decoder_config config = {.size = sizeof config, .params = s->params, .program = s->program};
    uint8_t *damaged = malloc(stream.size + 1);
    memcpy(damaged, stream.data, stream.size);
    for (uint64_t i = prng_range(random, 1, 4); stream.size && i--;)
        damaged[prng_range(random, 0, (uint32_t)stream.size - 1)] ^= (uint8_t)(1u << prng_range(random, 0, 7));
    const ntr_bytes spoilt = {damaged, stream.size};
    const size_t piece = prng_range(random, 8, 2000);
    const unsigned threads = prng_range(random, 1, 4);
    ntr_parallel_stats stats;
    const char *why = tallies_differ(&config, stream), *how = "";
    if (!why) why = parallels_differ(&config, stream, threads, piece, &stats);
    if (!why) {
        why = tallies_differ(&config, spoilt);
        how = ", when damaged";
    }
    if (!why) why = parallels_differ(&config, spoilt, threads, piece, &stats);
    verdict v = {.good = !why};
    if (why) snprintf(v.why, sizeof v.why, "%s%s", why, how);
    free(damaged);
    return v;
}

/* The library classifies instructions as the generator does. */
static verdict judge_image(const setup *s) {
    verdict v = {.good = true};
    for (uint32_t i = 0; i < s->graph->insns && v.good; i++) {
        const gen_insn *g = &s->graph->insn[i];
        ntr_insn insn = {0};
        ntr_status status = ntr_program_insn(s->program, ntr_place_at(NULL, 0, g->pc), &insn);
        bool direct = g->kind == GEN_BRANCH || g->kind == GEN_JUMP || g->kind == GEN_CALL || g->kind == GEN_JUMP_LINK;
        v.good = !status && insn.size == g->size && insn.itype == gen_itype[g->kind] &&
                 (!direct || insn.target == g->target) && insn.sets_constant == (g->kind == GEN_SET);
        snprintf(v.why, sizeof v.why,
                 "instruction at 0x%" PRIx64 " of kind %u reads as flow %u, itype %u, target 0x%" PRIx64, g->pc,
                 g->kind, insn.flow, insn.itype, insn.target);
    }
    return v;
}

/* The loss that the encoder reports is the execution that is missing. */
static verdict judge_loss(const setup_stream *stream, const gen_truth *truth, uint64_t reported) {
    verdict v = {.good = stream->status.lost_halfwords == truth->halfwords - reported};
    snprintf(v.why, sizeof v.why,
             "%" PRIu64 " halfwords executed, %" PRIu64 " reported, but %" PRIu64 " counted as lost", truth->halfwords,
             reported, stream->status.lost_halfwords);
    return v;
}

static verdict judge_all(const setup *s, setup_stream *const *streams, ntr_bytes stream, const transcript *oracle,
                         const transcript *decoder, prng *random) {
    verdict v = {.good = true};
    for (unsigned i = 0; i < s->harts && v.good; i++) {
        v = judge_truth(oracle, i, s->hart[i].truth, &s->hart[i].config, false);
        if (v.good) v = judge_loss(streams[i], s->hart[i].truth, v.halfwords);
        if (v.good) v = judge_accesses(oracle, i, streams[i]);
        if (v.good) v = judge_same(oracle, decoder, i);
        if (v.good) v = judge_truth(decoder, i, s->hart[i].truth, &s->hart[i].config, true);
    }
    if (v.good) v = judge_rules(s, stream);
    if (v.good) v = judge_counts(s, decoder, stream, random);
    if (v.good) v = judge_ways(s, stream, random);
    return v.good ? judge_middle(&s->params, s->program, stream, random) : v;
}

static bool run_seed(const options *o, uint64_t seed, tally *totals) {
    setup *s = setup_new(seed, &o->wish);
    setup_stream *streams[SETUP_HARTS_MAX] = {NULL}, *all = NULL;
    transcript *oracle = NULL, *decoder = NULL;
    verdict v = judge_image(s);
    if (o->verbose) print_config(s);
    for (unsigned i = 0; i < s->harts; i++) {
        if (o->verbose) print_run(s->hart[i].run);
        streams[i] = setup_encode(&s->hart[i]);
        if (streams[i]->wrong[0] && v.good) {
            v.good = false;
            snprintf(v.why, sizeof v.why, "%s", streams[i]->wrong);
        }
        totals->instructions += s->hart[i].run->pcs;
        totals->syncs += streams[i]->status.syncs;
        totals->accesses += streams[i]->accesses;
        totals->losses += streams[i]->status.overflows;
    }
    if (v.good) {
        all = setup_merge(streams, s->harts, &s->random);
        ntr_bytes stream = {all->bytes, all->size};
        totals->bytes += all->size;
        if (o->output) write_all(o->output, s, all);
        oracle = transcript_by_oracle(&s->params, s->program, stream);
        decoder = transcript_by_decoder(&s->params, s->program, stream, &s->random);
        v = judge_all(s, streams, stream, oracle, decoder, &s->random);
        if (o->verbose) {
            print_told(oracle, "oracle");
            if (!judge_same(oracle, decoder, 0).good) print_told(decoder, "decoder");
        }
    }
    if (!v.good) printf("# seed %" PRIu64 ": %s\n# repeat with: roundtrip -s %" PRIu64 " -v\n", seed, v.why, seed);
    transcript_free(oracle);
    transcript_free(decoder);
    setup_stream_free(all);
    for (unsigned i = 0; i < s->harts; i++) setup_stream_free(streams[i]);
    setup_free(s);
    return v.good;
}

static size_t read_seeds(const char *path, uint64_t *seeds, size_t capacity) {
    FILE *file = fopen(path, "r");
    char line[200];
    size_t count = 0;
    while (file && count < capacity && fgets(line, sizeof line, file))
        if (line[0] >= '0' && line[0] <= '9') seeds[count++] = strtoull(line, NULL, 10);
    if (file) fclose(file);
    return count;
}

int main(int argc, char **argv) {
    options o = {.seed = 1, .count = 1, .wish.data = true};
    uint64_t kept[1000];
    size_t keeps = 0, failed = 0;
    tally totals = {0};
    int option;
    while ((option = getopt(argc, argv, "s:n:l:f:o:v")) != -1) {
        switch (option) {
        case 's': o.seed = strtoull(optarg, NULL, 10); break;
        case 'n': o.count = strtoull(optarg, NULL, 10); break;
        case 'l': o.wish.instructions = (unsigned)strtoul(optarg, NULL, 10); break;
        case 'f': keeps = read_seeds(optarg, kept, sizeof kept / sizeof *kept); break;
        case 'o': o.output = optarg; break;
        case 'v': o.verbose = true; break;
        default: return 2;
        }
    }
    uint64_t runs = keeps + o.count;
    printf("1..%" PRIu64 "\n", (runs + SEEDS_PER_TEST - 1) / SEEDS_PER_TEST);
    setvbuf(stdout, NULL, _IOLBF, 0);
    size_t bad = 0;
    for (uint64_t i = 0; i < runs; i++) {
        bad += !run_seed(&o, i < keeps ? kept[i] : o.seed + i - keeps, &totals);
        if ((i + 1) % SEEDS_PER_TEST && i + 1 < runs) continue;
        printf("%s %" PRIu64 " runs up to %" PRIu64 "\n", bad ? "not ok" : "ok", i / SEEDS_PER_TEST + 1, i + 1);
        failed += bad;
        bad = 0;
    }
    printf("# %" PRIu64 " runs, %zu failed; %" PRIu64 " instructions, %" PRIu64 " bytes, %" PRIu64 " syncs, %" PRIu64
           " overflows, %" PRIu64 " accesses\n",
           runs, failed, totals.instructions, totals.bytes, totals.syncs, totals.losses, totals.accesses);
    return failed ? 1 : 0;
}

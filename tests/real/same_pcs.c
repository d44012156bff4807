/* same_pcs [-o] BUNDLE FILE: is every program counter of a bundle, of every thread, the one that the plugin count_pcs.c
 * saw in the same run? FILE is what the plugin wrote for the process. -o: read the stream with the oracle decoder of
 * the tests instead of the library's.
 *
 * One difference is allowed: when a thread ends the program while others execute, the block that another one was
 * executing may be in the trace as a whole (docs/run.md). Exit status: 0 equal; 1 different; 2 cannot be read. */
#include "tests/oracle/oracle.h"
#include "tests/real/each_instruction.h"
#include "tests/real/seen.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 512 };

static struct cpu {
    uint64_t before, expected; /* instructions that the plugin saw: without those of the tail, and all */
    uint64_t count, got; /* the trace: instructions, and the hash of the first `before` */
    uint64_t wrong; /* number of the first instruction of the tail that differs, from 1 */
} *cpus[CPUS];
static struct seen seen[CPUS];
static uint64_t problems, instructions;

static int fail(const char *what) {
    fprintf(stderr, "same_pcs: %s\n", what);
    return 2;
}

static struct cpu *cpu_of(unsigned index) {
    if (index >= CPUS) abort();
    if (!cpus[index] && !(cpus[index] = calloc(1, sizeof *cpus[index]))) abort();
    return cpus[index];
}

static bool read_truth(const char *path) {
    FILE *file = fopen(path, "r");
    const bool good = file && fread(seen, sizeof seen, 1, file) == 1;
    for (unsigned i = 0; good && i < CPUS; i++) {
        if (!seen[i].executes) continue;
        struct cpu *c = cpu_of(i);
        c->expected = seen[i].stored;
        c->before = c->expected < TAIL ? 0 : c->expected - TAIL;
    }
    if (file) fclose(file);
    return good;
}

/* ---- what the trace says */

static void take(unsigned src, uint64_t pc, const ntr_context *context) {
    (void)context;
    struct cpu *c = cpu_of(src);
    const uint64_t at = c->count++;
    if (at < c->before)
        c->got = pc_hash(c->got, pc);
    else if (at < c->expected && seen[src].tail[at % TAIL] != pc && !c->wrong)
        c->wrong = at + 1;
}

static void problem(unsigned src, uint64_t offset, const char *what) {
    if (!problems++) printf("source %u, byte %" PRIu64 ": %s\n", src, offset, what);
}

static void take_oracle(void *user, const oracle_event *e) {
    (void)user;
    if (e->kind == ORACLE_PC)
        take(e->src, e->pc, NULL);
    else if (e->kind == ORACLE_LOST || e->kind == ORACLE_NOTE)
        problem(e->src, e->offset, ntr_status_text(e->reason));
}

/* The oracle wants the stream as a whole. */
static ntr_status decode_with_oracle(ntr_bundle *bundle, ntr_program *program, ntr_stream_reader *stream) {
    uint8_t *all = NULL;
    size_t size = 0;
    ntr_status status = NTR_OK;
    for (bool last = false; !status && !last;) {
        ntr_bytes bytes;
        if ((status = ntr_stream_reader_next(stream, &bytes, &last))) break;
        uint8_t *more = realloc(all, size + bytes.size + 1);
        if (!more) abort();
        memcpy((all = more) + size, bytes.data, bytes.size);
        size += bytes.size;
    }
    if (!status)
        oracle_decode(&(oracle_options){&ntr_bundle_capture(bundle)->params, program, take_oracle, NULL},
                      (ntr_bytes){all, size});
    free(all);
    return status;
}

/* ---- comparison */

static const char *difference(unsigned index) {
    const struct cpu *c = cpus[index];
    if (c->count >= c->before && c->got != seen[index].hash) return "the hash differs";
    if (c->wrong) return "one of the last instructions differs";
    if (c->count < c->expected) return "instructions are missing";
    return c->count > c->expected + (seen[index].open ? BLOCK : 0) ? "instructions too many" : NULL;
}

static int compare(void) {
    for (unsigned i = 0; i < CPUS; i++) {
        const char *what = cpus[i] ? difference(i) : NULL;
        if (what)
            printf("thread %u: %s (expected %" PRIu64 " instructions, found %" PRIu64 ", first difference at %" PRIu64
                   ")\n",
                   i, what, cpus[i]->expected, cpus[i]->count, cpus[i]->wrong);
        problems += what != NULL;
        instructions += cpus[i] ? cpus[i]->count : 0;
    }
    printf("%" PRIu64 " instructions, %" PRIu64 " problems\n", instructions, problems);
    return problems || !instructions;
}

int main(int argc, char **argv) {
    const bool with_oracle = argc == 4 && strcmp(argv[1], "-o") == 0;
    if (argc != 3 + with_oracle) return fail("usage: same_pcs [-o] BUNDLE FILE");
    ntr_bundle *bundle;
    ntr_bundle_new(NULL, &bundle);
    ntr_program *program;
    ntr_program_new(NULL, &program);
    ntr_stream_reader *stream = NULL;
    if (!read_truth(argv[argc - 1])) return fail("the plugin's file cannot be read");
    if (ntr_bundle_open(bundle, argv[argc - 2]) || ntr_bundle_load(bundle, program) ||
        ntr_bundle_stream_open(bundle, &stream))
        return fail(ntr_bundle_error(bundle));
    const struct instruction_sink sink = {take, problem};
    ntr_status status =
        with_oracle ? decode_with_oracle(bundle, program, stream) : each_instruction(bundle, program, stream, &sink);
    ntr_stream_reader_free(stream);
    ntr_program_free(program);
    ntr_bundle_free(bundle);
    return status ? fail(ntr_status_text(status)) : compare();
}

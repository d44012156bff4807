/* Does a bundle hold what the plugin each_instruction.c has seen? Compares the hashes over address and privilege mode
 * of each hart after every so many instructions. The last block of a hart may be cut differently by the end of the
 * machine.
 *
 * usage: same_modes BUNDLE FILE */
#include "tests/real/each_instruction.h"
#include "tests/real/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HARTS = 64, BLOCK = 600 };

struct mark {
    uint64_t count, hash;
};

static struct hart {
    struct mark *marks;
    size_t mark_count, passed;
    uint64_t count, hash, wrong; /* number of the mark that differs, plus 1 */
} harts[HARTS];
static uint64_t problems;

static int fail(const char *why) {
    fprintf(stderr, "same_modes: %s\n", why);
    return 2;
}

static bool read_truth(const char *path) {
    FILE *file = fopen(path, "r");
    unsigned n;
    struct mark mark;

    while (file && fscanf(file, "%u %" SCNu64 " %" SCNx64, &n, &mark.count, &mark.hash) == 3 && n < HARTS) {
        struct mark *more = realloc(harts[n].marks, (harts[n].mark_count + 1) * sizeof *more);
        if (!more) abort();
        (harts[n].marks = more)[harts[n].mark_count++] = mark;
    }
    if (file) fclose(file);
    return harts[0].mark_count;
}

static void take(unsigned src, uint64_t pc, const ntr_context *context) {
    struct hart *hart = &harts[src % HARTS];

    hart->hash = pc_hash(hart->hash, pc * 8 + context->prv + 4u * context->v);
    hart->count++;
    if (hart->passed == hart->mark_count || hart->count != hart->marks[hart->passed].count) return;
    if (hart->hash != hart->marks[hart->passed].hash && !hart->wrong) hart->wrong = hart->passed + 1;
    hart->passed++;
}

static void problem(unsigned src, uint64_t offset, const char *what) {
    if (!problems++) printf("source %u, byte %" PRIu64 ": %s\n", src, offset, what);
}

static int compare(void) {
    for (unsigned i = 0; i < HARTS; i++) {
        const struct hart *h = &harts[i];
        uint64_t expected = h->mark_count ? h->marks[h->mark_count - 1].count : 0;
        uint64_t distance = h->count > expected ? h->count - expected : expected - h->count;
        if (!h->count && !h->mark_count) continue;
        printf("hart %u: %" PRIu64 " instructions, %" PRIu64 " expected, %zu of %zu hashes reached%s\n", i, h->count,
               expected, h->passed, h->mark_count, h->wrong ? ", one differs" : "");
        if (h->wrong)
            printf("  the first that differs: after %" PRIu64 " instructions\n", h->marks[h->wrong - 1].count);
        problems += h->wrong || distance > BLOCK;
    }
    printf("%" PRIu64 " problems\n", problems);
    return problems != 0;
}

int main(int argc, char **argv) {
    if (argc != 3) return fail("usage: same_modes BUNDLE FILE");
    ntr_bundle *bundle;
    ntr_bundle_new(NULL, &bundle);
    ntr_program *program;
    ntr_program_new(NULL, &program);
    ntr_stream_reader *stream = NULL;
    if (!read_truth(argv[2])) return fail("the plugin's file is empty");
    if (ntr_bundle_open(bundle, argv[1]) || ntr_bundle_load(bundle, program) || ntr_bundle_stream_open(bundle, &stream))
        return fail(ntr_bundle_error(bundle));
    ntr_status status = each_instruction(bundle, program, stream, &(struct instruction_sink){take, problem});
    ntr_stream_reader_free(stream);
    ntr_program_free(program);
    ntr_bundle_free(bundle);
    return status ? fail(ntr_status_text(status)) : compare();
}

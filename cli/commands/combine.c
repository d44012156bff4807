/* ntrace combine: adds partial answers, and shows or writes the sum. */
#include "commands/shared/analysis.h"
#include "commands/shared/combine_members.h"
#include "io/output.h"
#include "options/options.h"
#include "options/diagnostics.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct combine_options {
    const char *path;
    const char *index;
    int redo;
};

#define S struct combine_options
static const struct cli_option combine_table[] = {
    CLI_STRING('o', "output", "FILE", S, path, "write the sum as a partial answer to FILE"),
    CLI_FLAG(0, "redo", S, redo, "decode parts again that began with a wrong guess of the state at their beginning"),
    CLI_STRING(0, "index", "FILE", S, index,
               "with --redo: places where decoding can begin, the --index of the parts; of one capture"),
    {0},
};
#undef S

static const struct cli_group groups[] = {CLI_OWN("options", combine_table), {0}};

/* ---- parts */

/* Parts first, by capture, number of parts and place. */
static int by_place(const void *a, const void *b) {
    const struct cli_member *x = a, *y = b;
    const uint64_t keys[][2] = {{!x->shards, !y->shards},
                                {x->id[0], y->id[0]},
                                {x->id[1], y->id[1]},
                                {x->shards, y->shards},
                                {x->shard, y->shard}};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1]) return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

static bool same_cut(const struct cli_member *a, const struct cli_member *b) {
    return a->id[0] == b->id[0] && a->id[1] == b->id[1] && a->shards == b->shards;
}

/* Checks that the parts of a capture are there, each once. */
static int check_parts(const struct cli_member *parts, size_t count) {
    int status = CLI_OK;
    uint32_t expected = 1;

    for (size_t i = 0; i < count; i++) {
        if (i && parts[i].shard == parts[i - 1].shard)
            return cli_fail("%s: part %u of %u of the capture is given twice", parts[i].path, parts[i].shard,
                            parts[i].shards);
        for (; expected < parts[i].shard; expected++, status = CLI_DEFECTS)
            cli_note("%s: part %u of %u of its capture is missing", parts[i].path, expected, parts[i].shards);
        expected = parts[i].shard + 1;
    }
    for (; expected <= parts[0].shards; expected++, status = CLI_DEFECTS)
        cli_note("%s: part %u of %u of its capture is missing", parts[0].path, expected, parts[0].shards);
    return status;
}

/* Puts the parts of a capture together. Appends the answer, in a temporary file, to `sums`. */
static int join_parts(struct cli_members *sums, const struct cli_member *parts, size_t count,
                      const struct cli_redo *redo) {
    struct cli_partial_place *places = calloc(count, sizeof *places);
    char path[PATH_MAX];
    ntr_output output;
    int status = check_parts(parts, count);
    FILE *file = status == CLI_OK && places ? cli_members_temporary(path) : NULL;

    if (status == CLI_OK && !file) status = CLI_FAILED;
    for (size_t i = 0; places && i < count; i++) places[i] = (struct cli_partial_place){parts[i].path, parts[i].offset};
    ntr_output_init(&output);
    output.write = cli_members_write;
    output.user = file;
    if (status == CLI_OK) status = cli_partials_join(places, count, redo, &output);
    if (status == CLI_OK && fflush(file) != 0) status = cli_fail("temporary file: %s", strerror(errno));
    free(places);
    struct cli_member *sum = status == CLI_OK ? cli_members_add(sums, path, 0) : NULL;
    if (sum)
        sum->sum = file;
    else if (file)
        fclose(file);
    return sum || status != CLI_OK ? status : cli_fail("out of memory");
}

/* Replaces the parts of each capture by the answer of the whole. With `keep`, the parts of an incomplete capture remain
 * parts, which are moved to `rest`. */
static int join_all(struct cli_members *m, struct cli_members *rest, const struct cli_redo *redo, bool keep) {
    struct cli_members sums = {0};
    int status = CLI_OK;

    if (m->count) qsort(m->items, m->count, sizeof *m->items, by_place);
    for (size_t at = 0, count; at < m->count && status == CLI_OK; at += count) {
        for (count = 1; m->items[at].shards && at + count < m->count && same_cut(&m->items[at], &m->items[at + count]);)
            count++;
        const bool complete = count >= m->items[at].shards;
        if (m->items[at].shards && (complete || !keep)) {
            status = join_parts(&sums, &m->items[at], count, redo);
            continue;
        }
        for (size_t i = 0; i < count && status == CLI_OK; i++) {
            struct cli_members *to = m->items[at].shards ? rest : &sums;
            struct cli_member *added = cli_members_add(to, m->items[at + i].path, m->items[at + i].offset);
            if (!added) status = cli_fail("out of memory");
        }
    }
    free(m->items);
    *m = sums;
    return status;
}

/* ---- output */

static ntr_status write_output(void *user, const void *bytes, size_t size) {
    struct cli_output *out = user;

    cli_output_write(out, bytes, size);
    return out->failed ? NTR_E_IO : NTR_OK;
}

/* Copies the bytes of a partial. */
static int copy_member(const struct cli_member *m, struct cli_output *out) {
    ntr_partial *partial;
    ntr_partial_new(NULL, &partial);
    FILE *file = fopen(m->path, "rb");
    uint64_t next = m->offset;
    char bytes[1 << 14];
    int status = CLI_FAILED;

    if (partial && file && ntr_partial_open(partial, m->path, m->offset) == NTR_OK &&
        ntr_partial_check(partial, &next) == NTR_OK && fseeko(file, (off_t)m->offset, SEEK_SET) == 0)
        status = CLI_OK;
    for (uint64_t left = next - m->offset; status == CLI_OK && left;) {
        const size_t got = fread(bytes, 1, left < sizeof bytes ? (size_t)left : sizeof bytes, file);
        if (!got) status = CLI_FAILED;
        cli_output_write(out, bytes, got);
        left -= got;
    }
    if (file) fclose(file);
    ntr_partial_free(partial);
    return status == CLI_OK ? status : cli_fail("%s: cannot be read", m->path);
}

/* Writes the sum, and behind it the parts of captures that are not complete. */
static int copy_sum(const struct cli_member *sum, const struct cli_members *rest, const char *path) {
    struct cli_output out;
    ntr_output output;
    int status = CLI_OK;

    if (cli_output_open(&out, path) != CLI_OK) return CLI_FAILED;
    ntr_output_init(&output);
    output.write = write_output;
    output.user = &out;
    if (sum) status = cli_members_sum(sum, 1, &output);
    for (size_t i = 0; i < rest->count && status == CLI_OK; i++) status = copy_member(&rest->items[i], &out);
    return cli_output_close(&out, status);
}

/* Runs the command with the sum as its operand. */
static int show(const struct cli_member *sum, char **words) {
    int count = 0;

    while (words[count]) count++;
    char **arguments = calloc((size_t)count + 2, sizeof *arguments);
    if (!arguments) return cli_fail("out of memory");
    for (int i = 0; i < count; i++) arguments[i] = words[i];
    arguments[count] = (char *)sum->path;
    const int status = cli_run_words(arguments);
    free(arguments);
    return status;
}

static bool is_command(const char *word) {
    return cli_is_command(word) && access(word, F_OK) != 0;
}

static int combine_run(const void *options, char **operands) {
    const struct combine_options *o = options;
    const struct cli_redo redo = {.on = o->redo, .index = o->index};
    struct cli_members members = {0}, rest = {0};
    size_t files = 0;
    int status = CLI_OK;

    while (operands[files] && !is_command(operands[files])) files++;
    if (o->index && !o->redo) return cli_fail("--index expects --redo");
    if (!files) return cli_fail("expected partial answers before '%s'", operands[0]);
    if (!operands[files] && !o->path) return cli_fail("expected a command after the partial answers, or -o FILE");
    for (size_t i = 0; i < files && status == CLI_OK; i++) status = cli_members_list(&members, operands[i]);
    if (status == CLI_OK) status = join_all(&members, &rest, &redo, o->path && !operands[files]);
    if (status == CLI_OK && members.count) status = cli_members_add_up(&members);
    if (status == CLI_OK && o->path) status = copy_sum(members.count ? &members.items[0] : NULL, &rest, o->path);
    if (status == CLI_OK && operands[files]) status = show(&members.items[0], operands + files);
    for (size_t i = 0; i < members.count; i++) cli_members_close(&members.items[i]);
    free(members.items);
    free(rest.items);
    return status;
}

const struct cli_command cli_combine = {
    .operands = "PARTIAL... [COMMAND [OPTION]...]",
    .min_operands = 1,
    .max_operands = -1,
    .stop_at_operand = true,
    .groups = groups,
    .size = sizeof(struct combine_options),
    .run = combine_run,
    .about =
        "Adds partial answers, which the commands of analysis write with --partial, and shows the sum as COMMAND\n"
        "with its options would have shown it for the captures. The order and the grouping of the files make no\n"
        "difference. A capture that is given twice, and a file that is truncated, damaged or of another version,\n"
        "is refused.\n"
        "\n"
        "Parts of a capture (--shard) are put together when all of them are there; a part that is missing ends the\n"
        "command with exit status 1, and so does a part that began with a wrong guess, unless --redo decodes it\n"
        "again. With -o and without COMMAND, the parts of incomplete captures are kept in the file.\n"
        "\n"
        "Outputs that need all events in order (timeline, report, decode, ...) have answers with these events, of\n"
        "one capture. Parts of the capture are put together; several captures are not added.\n"
        "\n"
        "Counts are kept by the build id of the image and the offset in it: several builds of a program, and\n"
        "different programs of the same name, stay apart; an image that was loaded at different addresses is\n"
        "counted once. docs/partial.md has the details.",
    .examples = "  ntrace profile --partial a.part a.ntrace\n"
                "  ntrace profile --partial b.part b.ntrace\n"
                "  ntrace combine a.part b.part profile --top 20\n"
                "  ntrace combine -o night.part run-*.part\n"
                "  ntrace profile --partial 3.part --shard 3/8 big.ntrace",
};

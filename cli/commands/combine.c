/* ntrace combine: adds partial answers, and shows or writes the sum.
 *
 * The answers of whole captures are added 64 at a time, into temporary files, until one is left: memory depends neither on
 * the number of files nor on their length. */
#include "commands/analysis.h"
#include "io/output.h"
#include "options/command.h"
#include "options/diagnostics.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct combine_options {
    const char *path;
    int redo;
};

#define S struct combine_options
static const struct cli_option combine_table[] = {
    CLI_STRING('o', "output", "FILE", S, path, "write the sum as a partial answer to FILE"),
    CLI_FLAG(0, "redo", S, redo, "decode parts again that began with a wrong guess of the state at their beginning"),
    {0},
};
#undef S

static const struct cli_group groups[] = {CLI_OWN("options", combine_table), {0}};

/* A partial inside of a file. */
struct member {
    char path[PATH_MAX];
    uint64_t offset;
    uint64_t id[2], begin, end; /* of its first capture; */
    uint32_t shard, shards;     /* ... 0: not a part */
    FILE *sum; /* a temporary file, whose path is that of its descriptor; else NULL */
};

struct members {
    struct member *items;
    size_t count, capacity;
};

static struct member *add_member(struct members *m, const char *path, uint64_t offset) {
    if (m->count == m->capacity) {
        const size_t capacity = m->capacity ? 2 * m->capacity : 64;
        struct member *grown = realloc(m->items, capacity * sizeof *grown);
        if (!grown) return NULL;
        m->items = grown;
        m->capacity = capacity;
    }
    struct member *added = &m->items[m->count++];
    *added = (struct member){.offset = offset};
    snprintf(added->path, sizeof added->path, "%s", path);
    return added;
}

/* ---- inputs */

static void describe(struct member *m, const ntr_partial_capture *c) {
    memcpy(m->id, c->id, sizeof m->id);
    m->begin = c->begin;
    m->end = c->end;
    m->shard = c->shard;
    m->shards = c->shards;
}

/* Checks all partials of a file and lists them. */
static int list_file(struct members *m, const char *path) {
    ntr_partial *partial = ntr_partial_new(NULL);
    uint64_t offset = 0, next = 0;
    ntr_status status = partial ? NTR_OK : NTR_E_MEMORY;

    for (; status == NTR_OK; offset = next) {
        status = ntr_partial_open(partial, path, offset);
        if (status == NTR_OK) status = ntr_partial_check(partial, &next);
        struct member *added = status == NTR_OK ? add_member(m, path, offset) : NULL;
        if (added) describe(added, ntr_partial_capture_at(partial, 0));
        else if (status == NTR_OK) status = NTR_E_MEMORY;
    }
    if (status != NTR_END || offset == 0) {
        if (!partial || status == NTR_E_MEMORY) cli_note("out of memory");
        else if (status == NTR_END) cli_note("%s: expected a partial answer, found an empty file", path);
        else cli_note("%s", ntr_partial_error(partial));
        status = NTR_E_FORMAT;
    }
    ntr_partial_free(partial);
    return status == NTR_END ? CLI_OK : CLI_FAILED;
}

/* ---- sums */

static ntr_status write_output(void *user, const void *bytes, size_t size) {
    struct cli_output *out = user;

    cli_output_write(out, bytes, size);
    return out->failed ? NTR_E_IO : NTR_OK;
}

static ntr_status write_stream(void *user, const void *bytes, size_t size) {
    return fwrite(bytes, 1, size, user) == size ? NTR_OK : NTR_E_IO;
}

static int add_to(const struct member *members, size_t count, const ntr_output *output) {
    ntr_partial *partials[NTR_PARTIAL_INPUTS_MAX] = {0};
    ntr_status status = NTR_OK;

    const char *why = "out of memory";
    for (size_t i = 0; i < count && status == NTR_OK; i++) {
        partials[i] = ntr_partial_new(NULL);
        status = partials[i] ? ntr_partial_open(partials[i], members[i].path, members[i].offset) : NTR_E_MEMORY;
        if (status != NTR_OK && partials[i]) why = ntr_partial_error(partials[i]);
    }
    if (status == NTR_OK && (status = ntr_partial_add(partials, count, output)) != NTR_OK)
        why = *ntr_partial_error(partials[0]) ? ntr_partial_error(partials[0]) : ntr_status_text(status);
    if (status != NTR_OK) cli_note("%s", why);
    for (size_t i = 0; i < count; i++) ntr_partial_free(partials[i]);
    return status == NTR_OK ? CLI_OK : CLI_FAILED;
}

/* Opens a file that has no name any more. `path` is valid while it is open. */
static FILE *open_temporary(char path[PATH_MAX]) {
    const char *folder = getenv("TMPDIR");

    snprintf(path, PATH_MAX, "%s/ntrace-combine.XXXXXX", folder && *folder ? folder : "/tmp");
    const int fd = mkostemp(path, O_CLOEXEC);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "wb");
    if (!file) cli_note("%s: cannot create: %s", path, strerror(errno));
    if (fd < 0) return NULL;
    unlink(path);
    snprintf(path, PATH_MAX, "/proc/self/fd/%d", fd);
    if (!file) close(fd);
    return file;
}

static void close_sum(struct member *m) {
    if (m->sum) fclose(m->sum);
    m->sum = NULL;
}

/* Adds some of the members. Appends the sum, in a temporary file, to `sums`. */
static int add_some(struct members *sums, struct member *members, size_t count) {
    char path[PATH_MAX];
    ntr_output output;
    FILE *file = open_temporary(path);

    if (!file) return CLI_FAILED;
    ntr_output_init(&output);
    output.write = write_stream;
    output.user = file;
    int status = add_to(members, count, &output);
    if (status == CLI_OK && fflush(file) != 0) status = cli_fail("temporary file: %s", strerror(errno));
    for (size_t i = 0; i < count; i++) close_sum(&members[i]);
    struct member *sum = status == CLI_OK ? add_member(sums, path, 0) : NULL;
    if (sum) sum->sum = file;
    else fclose(file);
    return sum ? CLI_OK : status == CLI_OK ? cli_fail("out of memory") : status;
}

/* ---- parts */

/* Parts first, by capture, number of parts and place. */
static int by_place(const void *a, const void *b) {
    const struct member *x = a, *y = b;
    const uint64_t keys[][2] = {{!x->shards, !y->shards}, {x->id[0], y->id[0]}, {x->id[1], y->id[1]}, {x->shards, y->shards},
                                {x->shard, y->shard}};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1]) return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

static bool same_cut(const struct member *a, const struct member *b) {
    return a->id[0] == b->id[0] && a->id[1] == b->id[1] && a->shards == b->shards;
}

/* Checks that the parts of a capture are there, each once. */
static int check_parts(const struct member *parts, size_t count) {
    int status = CLI_OK;
    uint32_t expected = 1;

    for (size_t i = 0; i < count; i++) {
        if (i && parts[i].shard == parts[i - 1].shard)
            return cli_fail("%s: part %u of %u of the capture is given twice", parts[i].path, parts[i].shard, parts[i].shards);
        for (; expected < parts[i].shard; expected++, status = CLI_DEFECTS)
            cli_note("%s: part %u of %u of its capture is missing", parts[i].path, expected, parts[i].shards);
        expected = parts[i].shard + 1;
    }
    for (; expected <= parts[0].shards; expected++, status = CLI_DEFECTS)
        cli_note("%s: part %u of %u of its capture is missing", parts[0].path, expected, parts[0].shards);
    return status;
}

/* Puts the parts of a capture together. Appends the answer, in a temporary file, to `sums`. */
static int join_parts(struct members *sums, const struct member *parts, size_t count, bool redo) {
    struct cli_partial_place *places = calloc(count, sizeof *places);
    char path[PATH_MAX];
    ntr_output output;
    int status = check_parts(parts, count);
    FILE *file = status == CLI_OK && places ? open_temporary(path) : NULL;

    if (status == CLI_OK && !file) status = CLI_FAILED;
    for (size_t i = 0; places && i < count; i++) places[i] = (struct cli_partial_place){parts[i].path, parts[i].offset};
    ntr_output_init(&output);
    output.write = write_stream;
    output.user = file;
    if (status == CLI_OK) status = cli_partials_join(places, count, redo, &output);
    if (status == CLI_OK && fflush(file) != 0) status = cli_fail("temporary file: %s", strerror(errno));
    free(places);
    struct member *sum = status == CLI_OK ? add_member(sums, path, 0) : NULL;
    if (sum) sum->sum = file;
    else if (file) fclose(file);
    return sum || status != CLI_OK ? status : cli_fail("out of memory");
}

/* Replaces the parts of each capture by the answer of the whole. With `keep`, the parts of an incomplete capture remain parts, which
 * are moved to `rest`. */
static int join_all(struct members *m, struct members *rest, bool redo, bool keep) {
    struct members sums = {0};
    int status = CLI_OK;

    if (m->count) qsort(m->items, m->count, sizeof *m->items, by_place);
    for (size_t at = 0, count; at < m->count && status == CLI_OK; at += count) {
        for (count = 1; m->items[at].shards && at + count < m->count && same_cut(&m->items[at], &m->items[at + count]);) count++;
        const bool complete = count >= m->items[at].shards;
        if (m->items[at].shards && (complete || !keep)) {
            status = join_parts(&sums, &m->items[at], count, redo);
            continue;
        }
        for (size_t i = 0; i < count && status == CLI_OK; i++) {
            struct members *to = m->items[at].shards ? rest : &sums;
            struct member *added = add_member(to, m->items[at + i].path, m->items[at + i].offset);
            if (!added) status = cli_fail("out of memory");
        }
    }
    free(m->items);
    *m = sums;
    return status;
}

/* Adds 64 members at a time; the sums become the members. */
static int add_round(struct members *m) {
    struct members sums = {0};
    int status = CLI_OK;

    for (size_t at = 0; at < m->count && status == CLI_OK; at += NTR_PARTIAL_INPUTS_MAX)
        status = add_some(&sums, m->items + at,
                          m->count - at < NTR_PARTIAL_INPUTS_MAX ? m->count - at : NTR_PARTIAL_INPUTS_MAX);
    for (size_t i = 0; i < m->count; i++) close_sum(&m->items[i]);
    free(m->items);
    *m = sums;
    return status;
}

static int add_all(struct members *m) {
    int status = CLI_OK;

    do status = add_round(m);
    while (status == CLI_OK && m->count > 1);
    return status;
}

/* ---- output */

/* Copies the bytes of a partial. */
static int copy_member(const struct member *m, struct cli_output *out) {
    ntr_partial *partial = ntr_partial_new(NULL);
    FILE *file = fopen(m->path, "rb");
    uint64_t next = m->offset;
    char bytes[1 << 14];
    int status = CLI_FAILED;

    if (partial && file && ntr_partial_open(partial, m->path, m->offset) == NTR_OK && ntr_partial_check(partial, &next) == NTR_OK &&
        fseeko(file, (off_t)m->offset, SEEK_SET) == 0)
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
static int copy_sum(const struct member *sum, const struct members *rest, const char *path) {
    struct cli_output out;
    ntr_output output;
    int status = CLI_OK;

    if (cli_output_open(&out, path) != CLI_OK) return CLI_FAILED;
    ntr_output_init(&output);
    output.write = write_output;
    output.user = &out;
    if (sum) status = add_to(sum, 1, &output);
    for (size_t i = 0; i < rest->count && status == CLI_OK; i++) status = copy_member(&rest->items[i], &out);
    return cli_output_close(&out, status);
}

/* Runs the command with the sum as its operand. */
static int show(const struct member *sum, char **words) {
    const struct cli_entry *entry = cli_find_command(words[0]);
    int count = 0;

    while (words[count]) count++;
    char **arguments = calloc((size_t)count + 2, sizeof *arguments);
    if (!arguments) return cli_fail("out of memory");
    for (int i = 1; i < count; i++) arguments[i - 1] = words[i];
    arguments[count - 1] = (char *)sum->path;
    const int status = cli_run_command(entry, count, arguments);
    free(arguments);
    return status;
}

static bool is_command(const char *word) {
    return cli_find_command(word) && access(word, F_OK) != 0;
}

static int combine_run(const void *options, char **operands) {
    const struct combine_options *o = options;
    struct members members = {0}, rest = {0};
    size_t files = 0;
    int status = CLI_OK;

    while (operands[files] && !is_command(operands[files])) files++;
    if (!files) return cli_fail("expected partial answers before '%s'", operands[0]);
    if (!operands[files] && !o->path) return cli_fail("expected a command after the partial answers, or -o FILE");
    for (size_t i = 0; i < files && status == CLI_OK; i++) status = list_file(&members, operands[i]);
    if (status == CLI_OK) status = join_all(&members, &rest, o->redo != 0, o->path && !operands[files]);
    if (status == CLI_OK && members.count) status = add_all(&members);
    if (status == CLI_OK && o->path) status = copy_sum(members.count ? &members.items[0] : NULL, &rest, o->path);
    if (status == CLI_OK && operands[files]) status = show(&members.items[0], operands + files);
    for (size_t i = 0; i < members.count; i++) close_sum(&members.items[i]);
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
    .about = "Adds partial answers, which the commands of analysis write with --partial, and shows the sum as COMMAND\n"
             "with its options would have shown it for the captures. The order and the grouping of the files make no\n"
             "difference. A capture that is given twice, and a file that is truncated, damaged or of another version,\n"
             "is refused.\n"
             "\n"
             "Parts of a capture (--shard) are put together when all of them are there; a part that is missing ends the\n"
             "command with exit status 1, and so does a part that began with a wrong guess, unless --redo decodes it\n"
             "again. With -o and without COMMAND, the parts of incomplete captures are kept in the file.\n"
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

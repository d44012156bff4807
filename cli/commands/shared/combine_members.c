/* Answers of whole captures are added 64 at a time, into temporary files, until one is left: memory depends neither on
 * the number of files nor on their length. */
#include "commands/shared/combine_members.h"

#include "io/output.h"
#include "options/diagnostics.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct cli_member *cli_members_add(struct cli_members *m, const char *path, uint64_t offset) {
    if (m->count == m->capacity) {
        const size_t capacity = m->capacity ? 2 * m->capacity : 64;
        struct cli_member *grown = realloc(m->items, capacity * sizeof *grown);
        if (!grown) return NULL;
        m->items = grown;
        m->capacity = capacity;
    }
    struct cli_member *added = &m->items[m->count++];
    *added = (struct cli_member){.offset = offset};
    snprintf(added->path, sizeof added->path, "%s", path);
    return added;
}

/* ---- inputs */

static void describe(struct cli_member *m, const ntr_partial_capture *c) {
    memcpy(m->id, c->id, sizeof m->id);
    m->begin = c->begin;
    m->end = c->end;
    m->shard = c->shard;
    m->shards = c->shards;
}

/* Checks all partials of a file and lists them. */
int cli_members_list(struct cli_members *m, const char *path) {
    ntr_partial *partial;
    ntr_partial_new(NULL, &partial);
    uint64_t offset = 0, next = 0;
    ntr_status status = partial ? NTR_OK : NTR_E_MEMORY;

    for (; status == NTR_OK; offset = next) {
        status = ntr_partial_open(partial, path, offset);
        if (status == NTR_OK) status = ntr_partial_check(partial, &next);
        struct cli_member *added = status == NTR_OK ? cli_members_add(m, path, offset) : NULL;
        if (added)
            describe(added, ntr_partial_capture_at(partial, 0));
        else if (status == NTR_OK)
            status = NTR_E_MEMORY;
    }
    if (status != NTR_END || offset == 0) {
        if (!partial || status == NTR_E_MEMORY)
            cli_note("out of memory");
        else if (status == NTR_END)
            cli_note("%s: expected a partial answer, found an empty file", path);
        else
            cli_note("%s", ntr_partial_error(partial));
        status = NTR_E_FORMAT;
    }
    ntr_partial_free(partial);
    return status == NTR_END ? CLI_OK : CLI_FAILED;
}

/* ---- sums */

ntr_status cli_members_write(void *user, const void *bytes, size_t size) {
    return fwrite(bytes, 1, size, user) == size ? NTR_OK : NTR_E_IO;
}

int cli_members_sum(const struct cli_member *members, size_t count, const ntr_output *output) {
    ntr_partial *partials[NTR_PARTIAL_INPUTS_MAX] = {0};
    ntr_status status = NTR_OK;

    const char *why = "out of memory";
    for (size_t i = 0; i < count && status == NTR_OK; i++) {
        ntr_partial_new(NULL, &partials[i]);
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
FILE *cli_members_temporary(char path[PATH_MAX]) {
    const char *folder = getenv("TMPDIR");

    snprintf(path, PATH_MAX, "%s/ntrace-combine.XXXXXX", folder && *folder ? folder : "/tmp");
    const int fd = mkostemp(path, O_CLOEXEC);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w+b");
    if (!file) cli_note("%s: cannot create: %s", path, strerror(errno));
    if (fd < 0) return NULL;
    unlink(path);
    snprintf(path, PATH_MAX, "/proc/self/fd/%d", fd);
    if (!file) close(fd);
    return file;
}

void cli_members_close(struct cli_member *m) {
    if (m->sum) fclose(m->sum);
    m->sum = NULL;
}

/* Adds some of the members. Appends the sum, in a temporary file, to `sums`. */
static int add_some(struct cli_members *sums, struct cli_member *members, size_t count) {
    char path[PATH_MAX];
    ntr_output output;
    FILE *file = cli_members_temporary(path);

    if (!file) return CLI_FAILED;
    ntr_output_init(&output);
    output.write = cli_members_write;
    output.user = file;
    int status = cli_members_sum(members, count, &output);
    if (status == CLI_OK && fflush(file) != 0) status = cli_fail("temporary file: %s", strerror(errno));
    for (size_t i = 0; i < count; i++) cli_members_close(&members[i]);
    struct cli_member *sum = status == CLI_OK ? cli_members_add(sums, path, 0) : NULL;
    if (sum)
        sum->sum = file;
    else
        fclose(file);
    return sum ? CLI_OK : status == CLI_OK ? cli_fail("out of memory") : status;
}

/* Adds 64 members at a time; the sums become the members. */
static int add_round(struct cli_members *m) {
    struct cli_members sums = {0};
    int status = CLI_OK;

    for (size_t at = 0; at < m->count && status == CLI_OK; at += NTR_PARTIAL_INPUTS_MAX)
        status = add_some(&sums, m->items + at,
                          m->count - at < NTR_PARTIAL_INPUTS_MAX ? m->count - at : NTR_PARTIAL_INPUTS_MAX);
    for (size_t i = 0; i < m->count; i++) cli_members_close(&m->items[i]);
    free(m->items);
    *m = sums;
    return status;
}

int cli_members_add_up(struct cli_members *m) {
    int status = CLI_OK;

    do status = add_round(m);
    while (status == CLI_OK && m->count > 1);
    return status;
}

#include "io/cost_profile.h"

#include "io/input.h"
#include "io/lines.h"
#include "options/diagnostics.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

bool cli_cost_profile_seen(const char *path) {
    char head[4096];
    const int file = strcmp(path, "-") == 0 ? -1 : cli_open_regular(path, INT64_MAX);
    const ssize_t size = file >= 0 ? read(file, head, sizeof head - 1) : -1;

    if (file >= 0) close(file);
    if (size <= 0) return false;
    head[size] = '\0';
    return strncmp(head, "{\"self\":", 8) == 0;
}

static bool take_number(const json_t *row, const char *name, uint64_t *value) {
    const json_t *member = json_object_get(row, name);

    if (!json_is_integer(member) || json_integer_value(member) < 0) return false;
    *value = (uint64_t)json_integer_value(member);
    return true;
}

struct row_reader {
    const char *path;
    struct cli_lines lines;
    ntr_profile_by by; /* of all rows */
    uint64_t sum, all; /* instructions of the rows, and of the trace */
    bool any, incomplete;
};

/* Stores a row. Returns what was expected instead of what it has, or NULL. */
static const char *take_row(struct row_reader *r, const json_t *json, ntr_profile_row *row) {
    const char *by = json_string_value(json_object_get(json, "by"));
    const bool by_line = by && strcmp(by, "line") == 0;
    uint64_t line = 0, all;

    if (!by || (!by_line && strcmp(by, "function") != 0)) return "a row of 'profile --by function' or '--by line'";
    *row = (ntr_profile_row){
        .name = json_string_value(json_object_get(json, "function")),
        .file = json_string_value(json_object_get(json, "file")),
        .image = json_string_value(json_object_get(json, "image")),
    };
    if (!take_number(json, "self", &row->self)) return "'self', a number of instructions";
    if (!take_number(json, "all", &all)) return "'all', a number of instructions";
    if (json_object_get(json, "line") && (!take_number(json, "line", &line) || line > UINT32_MAX))
        return "'line', a number";
    row->line = (uint32_t)line;
    const ntr_profile_by found = by_line ? NTR_PROFILE_LINE : NTR_PROFILE_FUNCTION;
    if (r->any && (found != r->by || all != r->all)) return "a row of the same profile";
    r->by = found;
    r->all = all;
    r->any = true;
    if (row->self > all - r->sum) return "no more instructions than 'all'";
    r->sum += row->self;
    r->incomplete |= json_is_true(json_object_get(json, "incomplete"));
    return NULL;
}

static int take_line(struct row_reader *r, const char *text, size_t length, ntr_costs *costs) {
    json_error_t error;
    ntr_profile_row row;
    json_t *json = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    int status = CLI_OK;

    if (!json) return cli_fail("%s: line %" PRIu64 ": %s", r->path, r->lines.number, error.text);
    const char *expected = take_row(r, json, &row);
    if (expected)
        status = cli_fail("%s: line %" PRIu64 ": expected %s", r->path, r->lines.number, expected);
    else if (ntr_costs_add(costs, r->by, &row) != NTR_OK)
        status = cli_fail("%s: out of memory", r->path);
    json_decref(json);
    return status;
}

int cli_cost_profile_read(const char *path, ntr_costs *costs, bool *incomplete) {
    struct row_reader r = {.path = path};
    const char *text;
    size_t length;
    int status = cli_lines_open(&r.lines, path);

    if (status != CLI_OK) return status;
    while (status == CLI_OK && cli_lines_next(&r.lines, &text, &length)) status = take_line(&r, text, length, costs);
    if (status == CLI_OK && r.lines.failed) status = CLI_FAILED;
    if (status == CLI_OK && r.sum != r.all)
        status = cli_fail("%s: the rows have %" PRIu64 " of %" PRIu64 " instructions: write the profile without --top",
                          path, r.sum, r.all);
    cli_lines_close(&r.lines);
    *incomplete = r.incomplete;
    return status;
}

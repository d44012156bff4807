#include "commands/coverage/earlier.h"

#include "io/digest.h"
#include "io/input.h"
#include "options/diagnostics.h"

#include <ntrace/decision.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct comparison {
    struct cli_output *out;
    struct cli_earlier_sums *sums;
    ntr_coverage *coverage;
    const json_t *evidence;
};

static json_t *load(const char *folder, const char *name, bool needed) {
    char path[PATH_MAX];
    json_error_t error;
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    int file = length > 0 && (size_t)length < sizeof path ? cli_open_regular(path, cli_limit(CLI_LIMIT_EVIDENCE)) : -1;
    json_t *document = file >= 0 ? json_loadfd(file, 0, &error) : NULL;

    if (!document && needed)
        cli_fail("--diff: %s: %s (expected the folder of an earlier --evidence)", path,
                 file >= 0        ? error.text
                 : errno == EFBIG ? "larger than the limit evidence"
                                  : strerror(errno));
    if (file >= 0) close(file);
    return document;
}

static const char *member(const json_t *object, const char *name) {
    const char *text = json_string_value(json_object_get(object, name));

    return text ? text : "";
}

/* ---- lines */

/* Returns whether a source has the bytes that the earlier evidence names. */
static bool same_source(const struct comparison *c, const char *file) {
    const json_t *files = json_object_get(c->evidence, "files"), *entry;
    char digest[CLI_DIGEST_TEXT] = "";
    size_t i;

    cli_digest_file(file, digest);
    json_array_foreach(files, i, entry) {
        if (strcmp(member(entry, "kind"), "source") == 0 && strcmp(member(entry, "name"), file) == 0)
            return strcmp(member(entry, "sha256"), digest) == 0;
    }
    return false;
}

static const ntr_cover_line *find_line(const ntr_cover_line *lines, size_t count, const char *file, uint32_t line) {
    for (size_t low = 0, high = count; low < high;) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(lines[middle].file, file);
        if (order == 0 && lines[middle].line == line) return &lines[middle];
        if (order < 0 || (order == 0 && lines[middle].line < line))
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static void tell(struct comparison *c, bool lost, const char *file, uint32_t line, const char *what) {
    *(lost ? &c->sums->lost : &c->sums->gained) += 1;
    cli_output_text(c->out, lost ? "lost: " : "gained: ");
    cli_output_source(c->out, file, line);
    cli_output_print(c->out, "%s%s\n", *what ? ": " : "", what);
}

static void compare_lines(struct comparison *c, const json_t *file) {
    const json_t *lines = json_object_get(file, "lines"), *entry;
    const char *name = member(file, "file");
    size_t count, i;
    const ntr_cover_line *now = ntr_coverage_lines(c->coverage, &count);

    if (!same_source(c, name)) {
        cli_output_print(c->out, "%s: the source has changed; its lines are not compared\n", name);
        return;
    }
    json_array_foreach(lines, i, entry) {
        json_int_t number = json_integer_value(json_object_get(entry, "line"));
        bool before = json_integer_value(json_object_get(entry, "count")) > 0;
        const ntr_cover_line *line =
            number > 0 && number <= UINT32_MAX ? find_line(now, count, name, (uint32_t)number) : NULL;
        bool after = line && line->count;
        c->sums->compared++;
        if (before != after) tell(c, before, name, (uint32_t)number, "");
    }
}

/* ---- decisions */

/* Is `member` the text, as a JSON file has it? Bytes that are not UTF-8 are the characters of ISO 8859-1 there. */
static bool is_text(const char *member, const char *text) {
    while (*text) {
        const size_t length = ntr_utf8_length(text, 4);
        const unsigned char c = (unsigned char)*text;
        const char latin[2] = {(char)(0xc0 | c >> 6), (char)(0x80 | (c & 0x3f))};
        const size_t expected = length ? length : sizeof latin;
        if (strncmp(member, length ? text : latin, expected) != 0) return false;
        member += expected;
        text += length ? length : 1;
    }
    return !*member;
}

/* Decisions are found by file, function and text, and those with the same text by their order. */
static bool same_decision(const ntr_decision *d, const json_t *entry) {
    return is_text(member(entry, "text"), d->text) && is_text(member(entry, "function"), d->function) &&
           is_text(member(entry, "file"), d->file);
}

static size_t order_of(const json_t *decisions, size_t index, const ntr_decision *d) {
    size_t order = 0;

    for (size_t i = 0; i < index; i++) order += same_decision(d, json_array_get(decisions, i));
    return order;
}

static const ntr_decision *find_decision(const ntr_decision *list, size_t count, const json_t *decisions,
                                         size_t index) {
    const json_t *entry = json_array_get(decisions, index);
    size_t seen = 0, order = SIZE_MAX;

    for (size_t i = 0; i < count; i++) {
        if (!same_decision(&list[i], entry)) continue;
        if (order == SIZE_MAX) order = order_of(decisions, index, &list[i]);
        if (seen++ == order) return &list[i];
    }
    return NULL;
}

static void compare_level(struct comparison *c, const ntr_decision *d, const json_t *entry, const char *level,
                          uint8_t state) {
    const bool before = strcmp(member(entry, level), "covered") == 0, after = state == NTR_COVER_COVERED;
    char text[400];

    c->sums->compared++;
    if (before == after) return;
    snprintf(text, sizeof text, "%s: %.350s", strcmp(level, "state") == 0 ? "MC/DC" : level, d->text);
    tell(c, before, d->file, d->line, text);
}

static void compare_decisions(struct comparison *c, const json_t *decisions, const ntr_decisions *now) {
    size_t count;
    const ntr_decision *list = ntr_decisions_list(now, &count);

    for (size_t i = 0; i < json_array_size(decisions); i++) {
        const json_t *entry = json_array_get(decisions, i);
        const ntr_decision *d = find_decision(list, count, decisions, i);
        if (!d) {
            cli_output_text(c->out, "gone: ");
            cli_output_line(c->out, member(entry, "file"));
            cli_output_print(c->out, ":%s: ", member(entry, "function"));
            cli_output_print(c->out, "%s\n", member(entry, "text"));
            continue;
        }
        compare_level(c, d, entry, "decision", d->decision_state);
        if (d->condition_count < 2) continue;
        compare_level(c, d, entry, "masking", d->masking_state);
        compare_level(c, d, entry, "state", d->state);
    }
}

int cli_earlier_compare(const char *earlier, ntr_coverage *coverage, const ntr_decisions *decisions,
                        struct cli_output *out, struct cli_earlier_sums *sums) {
    json_t *evidence = load(earlier, "evidence.json", true),
           *lines = evidence ? load(earlier, "lines.json", true) : NULL;
    json_t *old = lines && decisions ? load(earlier, "decisions.json", true) : NULL;
    struct comparison c = {out, sums, coverage, evidence};
    int status = lines && (!decisions || old) ? CLI_OK : CLI_FAILED;
    const json_t *files = json_object_get(lines, "files"), *file;
    size_t i;

    *sums = (struct cli_earlier_sums){0};
    if (status == CLI_OK) {
        json_array_foreach(files, i, file) compare_lines(&c, file);
        if (decisions) compare_decisions(&c, json_object_get(old, "decisions"), decisions);
        cli_output_print(out, "%" PRIu64 " lost, %" PRIu64 " gained, of %" PRIu64 " compared with %s\n", sums->lost,
                         sums->gained, sums->compared, earlier);
    }
    json_decref(old);
    json_decref(lines);
    json_decref(evidence);
    return status;
}

#include "encode_source.h"
#include "lines.h"
#include "report.h"

#include <inttypes.h>
#include <string.h>

/* ---- program counters */

#define PCS_AT_ONCE 4096

/* "0x80000000", blanks around it. */
static bool parse_pc(const char *text, size_t length, uint64_t *pc) {
    uint64_t value = 0;

    while (length && (*text == ' ' || *text == '\t')) text++, length--;
    while (length && (text[length - 1] == ' ' || text[length - 1] == '\t')) length--;
    if (length < 3 || length > 18 || text[0] != '0' || (text[1] | 0x20) != 'x') return false;
    for (size_t i = 2; i < length; i++) {
        unsigned digit = (unsigned char)text[i] - '0', letter = ((unsigned char)text[i] | 0x20u) - 'a';
        if (digit > 9 && letter > 5) return false;
        value = value << 4 | (digit <= 9 ? digit : letter + 10);
    }
    *pc = value;
    return true;
}

/* The time of an instruction is how many came before it. */
static ntr_status push_stamped(struct cli_encode *e, const uint64_t *pcs, size_t count, uint64_t before) {
    ntr_status status = NTR_OK;

    for (size_t i = 0; i < count && status == NTR_OK; i++) {
        ntr_hart_state state = {.priv = NTR_PRIV_M, .time = before + i};
        ntr_classifier_set_state(e->classifier, &state);
        status = ntr_classifier_push(e->classifier, pcs[i]);
    }
    return status;
}

static int push(struct cli_encode *e, const struct cli_lines *lines, const uint64_t *pcs, size_t count,
                uint64_t before) {
    ntr_status status =
        e->stamped ? push_stamped(e, pcs, count, before) : ntr_classifier_push_many(e->classifier, pcs, count);

    if (status == NTR_OK) return CLI_OK;
    const char *detail = ntr_classifier_error(e->classifier);
    return cli_fail("%s: %s", lines->input.name, *detail ? detail : ntr_status_text(status));
}

static int push_lines(struct cli_encode *e, struct cli_lines *lines) {
    uint64_t pcs[PCS_AT_ONCE], total = 0;
    const char *text;
    size_t length, count = 0;

    while (!e->out->done && cli_lines_next(lines, &text, &length)) {
        if (length == 0 || *text == '#') continue;
        if (!parse_pc(text, length, &pcs[count]))
            return cli_fail("%s: line %" PRIu64 ": expected a program counter (0x...), found '%.*s'", lines->input.name,
                            lines->number, length > 40 ? 40 : (int)length, text);
        if (++count < PCS_AT_ONCE) continue;
        if (push(e, lines, pcs, count, total) != CLI_OK) return CLI_FAILED;
        total += count;
        count = 0;
    }
    if (lines->failed) return CLI_FAILED;
    if (total + count == 0)
        return cli_fail("%s: expected program counters (0x..., one a line), found none", lines->input.name);
    return push(e, lines, pcs, count, total);
}

int cli_encode_pcs(struct cli_encode *e, const char *path) {
    struct cli_lines lines;

    if (cli_lines_open(&lines, path) != CLI_OK) return CLI_FAILED;
    int status = push_lines(e, &lines);
    cli_lines_close(&lines);
    return status;
}

#include "io/defects.h"
#include "options/diagnostics.h"

#include <inttypes.h>
#include <stdio.h>

#define REPORTED_MAX 10

static bool count(struct cli_defects *defects) {
    return defects->count++ < REPORTED_MAX && !defects->silent;
}

bool cli_defect_count_gap(struct cli_defects *defects) {
    if (defects->explained) defects->silent |= defects->explained(defects->user);
    defects->explained = NULL;
    return count(defects);
}

int cli_defect_summary(const struct cli_defects *defects) {
    if (defects->count > REPORTED_MAX && !defects->silent)
        cli_note("%s: %" PRIu64 " defects, the first %d are shown%s", defects->file, defects->count, REPORTED_MAX,
                 defects->hint ? defects->hint : "");
    return defects->count ? CLI_DEFECTS : CLI_OK;
}

/* For each defect, what was expected and what was found. `found` NULL: the value of the field. */
static const struct wording {
    ntr_status status;
    const char *expected, *found;
} wordings[] = {
    {NTR_E_MSEO_RESERVED, "MSEO 00, 01 or 11", "the reserved code 10"},
    {NTR_E_MSEO_SEQUENCE, "a start of message (MSEO 00) or idle", "MSEO 01"},
    {NTR_E_IDLE, "idle (0xff) or a start of message (MSEO 00)", NULL},
    {NTR_E_TRUNCATED, "the rest of the message", "the end of the stream"},
    {NTR_E_MESSAGE_LONG, "the end of the message (MSEO 11)", "more bytes than the longest message has"},
    {NTR_E_FIELD_LONG, "at most 64 significant bits", "more bits"},
    {NTR_E_FIELD_MISSING, "the field", "the end of the message"},
    {NTR_E_FIELD_SPLIT, "all bits of the field", "the end of a variable field (MSEO 01)"},
    {NTR_E_FIELD_EXTRA, "the end of the message", "more bytes"},
    {NTR_E_FIELD_VALUE, "a value that is not reserved", NULL},
    {NTR_E_HIST_STOP_BIT, "a history with its stop-bit (at least 0x1)", NULL},
};

static const struct wording *find_wording(ntr_status status) {
    for (size_t i = 0; i < sizeof wordings / sizeof wordings[0]; i++) {
        if (wordings[i].status == status) return &wordings[i];
    }
    return NULL;
}

const char *cli_defect_expected(ntr_status status) {
    const struct wording *wording = find_wording(status);

    return wording ? wording->expected : NULL;
}

/* Formats the value that was found: the value of the field, or the first byte if the defect has no field. */
static void format_found(const ntr_message *m, char *text, size_t size) {
    if (m->defect_field < NTR_FIELD_COUNT)
        snprintf(text, size, "0x%" PRIx64, m->value[m->defect_field]);
    else if (m->raw.size)
        snprintf(text, size, "0x%02x", m->raw.data[0]);
    else
        snprintf(text, size, "nothing");
}

void cli_defect_add(struct cli_defects *defects, const ntr_params *params, const ntr_message *m) {
    const struct wording *wording = find_wording((ntr_status)m->defect);
    const char *field = ntr_field_name((ntr_field)m->defect_field);
    char found[32];

    if (!count(defects)) return;
    format_found(m, found, sizeof found);
    cli_note("%s: byte 0x%" PRIx64 ", message #%" PRIu64 " %s%s%s: expected %s, found %s", defects->file, m->offset,
             m->number, ntr_tcode_name(params->dialect, m->tcode), field ? ", field " : "", field ? field : "",
             wording ? wording->expected : "a valid message",
             wording && wording->found ? wording->found
             : wording                 ? found
                                       : ntr_status_text((ntr_status)m->defect));
}

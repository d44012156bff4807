#include "options/selection.h"
#include "options/diagnostics.h"

#include <stdio.h>
#include <string.h>

#define SOURCE CLI_NUMBER(0, "src", "N", struct cli_selection, source, 0, 4095, -1, "select only source N")
#define FROM                                                                                                           \
    CLI_STRING(0, "from", "POINT", struct cli_selection, from,                                                         \
               "first point of the selection: N or #N (message number), @N (byte offset), t:N (time in ticks)")
#define TO                                                                                                             \
    CLI_STRING(0, "until", "POINT", struct cli_selection, to,                                                          \
               "last point of the selection, inclusive; same forms as --from")

const struct cli_option cli_selection_options[] = {SOURCE, FROM, TO, {0}};
const struct cli_option cli_selection_range_options[] = {FROM, TO, {0}};

int cli_selection_window(const struct cli_selection *selection, struct cli_window *window) {
    *window = (struct cli_window){.from_text = selection->from,
                                  .to_text = selection->to,
                                  .one_source = selection->source >= 0,
                                  .source = (uint16_t)selection->source};
    if (cli_point_parse("from", selection->from, &window->from) != CLI_OK) return CLI_FAILED;
    if (cli_point_parse("until", selection->to, &window->to) != CLI_OK) return CLI_FAILED;
    if (window->from.unit != window->to.unit || window->from.value <= window->to.value) return CLI_OK;
    return cli_fail("--from %s --until %s: expected an end at or after the beginning", selection->from, selection->to);
}

int cli_selection_messages(const struct cli_selection *selection, struct cli_window *window) {
    if (cli_selection_window(selection, window) != CLI_OK) return CLI_FAILED;
    if (window->from.unit != CLI_UNIT_TIME && window->to.unit != CLI_UNIT_TIME) return CLI_OK;
    return cli_fail("--from, --until: this command selects by message or byte, not by time; 'ntrace decode' selects by "
                    "time");
}

bool cli_window_is_part(const struct cli_window *window) {
    return window->from.unit || window->to.unit;
}

bool cli_window_is_whole(const struct cli_window *window) {
    return !cli_window_is_part(window) && !window->one_source;
}

void cli_window_report_empty(const struct cli_window *window, const char *name) {
    const char *from = window->from_text, *to = window->to_text;
    char source[sizeof " --src 65535"] = "";

    if (window->one_source) snprintf(source, sizeof source, " --src %u", window->source);
    cli_note("%s: nothing is selected by%s%s%s%s%s", name, source, from ? " --from " : "", from ? from : "",
             to ? " --until " : "", to ? to : "");
}

/* Returns -1, 0 or 1 if the position is before, at or after the point; 0 also if the time is not known. */
static int compare(const struct cli_point *point, uint64_t message, uint64_t offset, const uint64_t *time) {
    uint64_t value = point->unit == CLI_UNIT_MESSAGE ? message
                     : point->unit == CLI_UNIT_BYTE  ? offset
                     : time                          ? *time
                                                     : point->value;
    return (value > point->value) - (value < point->value);
}

enum cli_place cli_window_place(const struct cli_window *window, uint64_t message, uint64_t offset,
                                const uint64_t *time) {
    if (window->from.unit && compare(&window->from, message, offset, time) < 0) return CLI_BEFORE;
    if (window->to.unit && compare(&window->to, message, offset, time) > 0) return CLI_BEHIND;
    return CLI_INSIDE;
}

enum cli_place cli_window_event(const struct cli_window *window, const ntr_event *event) {
    const uint64_t *time = event->flags & NTR_EVENT_TIME ? &event->time : NULL;

    return cli_window_place(window, event->message, event->offset, time);
}

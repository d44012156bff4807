/* All events, one JSON object per line: the output of `ntrace decode --show event`. */
#include "export/export.h"

static ntr_status events(ntr_export *x, const ntr_event *list, size_t count) {
    char text[NTR_EVENT_TEXT_MAX];

    for (size_t i = 0; i < count; i++) ntr_out_bytes(&x->out, text, ntr_event_json(&list[i], text, sizeof text));
    return NTR_OK;
}

const ntr_exporter ntr_exporter_jsonl = {
    .name = "jsonl",
    .family = "export",
    .summary = "JSON lines: every event (docs/output.md)",
    .aliases = {"json", "events"},
    .needs = NTR_NEEDS_EVENTS,
    .events = events,
};

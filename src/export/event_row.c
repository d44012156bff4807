#include "base/digits.h"

#include <ntrace/event.h>
#include <ntrace/export.h>
#include <ntrace/message.h>
#include <string.h>

enum column {
#define NTR_COLUMN(id, name, shape) COLUMN_##id,
#include "export/columns.def"
#undef NTR_COLUMN
    COLUMN_COUNT,
};

enum shape { SHAPE_TEXT, SHAPE_DEC, SHAPE_HEX };

static const struct {
    const char *name;
    const char *key; /* as JSON text, with quotes and colon */
    uint8_t key_size, shape;
} columns[COLUMN_COUNT] = {
#define NTR_COLUMN(id, name, shape) {#name, "\"" #name "\":", sizeof #name + 2, SHAPE_##shape},
#include "export/columns.def"
#undef NTR_COLUMN
};

/* The values of one event. `present` is a set of columns. */
struct event_row {
    uint32_t present;
    uint64_t number[COLUMN_COUNT];
    const char *text[COLUMN_COUNT];
};

_Static_assert(COLUMN_COUNT <= 32, "a set of columns fits 32 bits");

static void set(struct event_row *row, enum column column, uint64_t value) {
    row->present |= 1u << column;
    row->number[column] = value;
}

static void set_text(struct event_row *row, enum column column, const char *text) {
    row->present |= 1u << column;
    row->text[column] = text ? text : "";
}

/* ---- the values of each kind of event */

static void fill_address(struct event_row *row, const ntr_event *e) {
    if (!(e->flags & NTR_EVENT_ADDRESS_UNKNOWN)) set(row, COLUMN_ADDRESS, e->address);
}

static void fill_span(struct event_row *row, const ntr_event *e) {
    fill_address(row, e);
    if (e->kind == NTR_EVENT_SPAN) {
        if (e->instructions) set(row, COLUMN_LAST, e->last);
        set(row, COLUMN_INSTRUCTIONS, e->instructions);
    }
    set(row, COLUMN_HALFWORDS, e->halfwords);
    set_text(row, COLUMN_END, ntr_span_end_name(e->end));
    if (!(e->flags & NTR_EVENT_TARGET_UNKNOWN)) set(row, COLUMN_TARGET, e->target);
    if (e->flags & NTR_EVENT_IMPLICIT) set(row, COLUMN_IMPLICIT, 1);
}

static void fill_sync(struct event_row *row, const ntr_event *e) {
    fill_address(row, e);
    set(row, COLUMN_CODE, e->code);
    set_text(row, COLUMN_NAME, ntr_sync_name(e->code));
}

static void fill_stop(struct event_row *row, const ntr_event *e) {
    fill_address(row, e);
    set(row, COLUMN_CODE, e->code);
    set_text(row, COLUMN_NAME, ntr_evcode_name(e->code));
}

static void fill_context(struct event_row *row, const ntr_event *e) {
    set(row, COLUMN_CODE, e->code);
    if (e->context.prv != NTR_PRV_UNKNOWN) {
        set(row, COLUMN_PRV, e->context.prv);
        set(row, COLUMN_V, e->context.v);
    }
    if (e->context.has_scontext) set(row, COLUMN_SCONTEXT, e->context.scontext);
    if (e->context.has_hcontext) set(row, COLUMN_HCONTEXT, e->context.hcontext);
}

static void fill_gap(struct event_row *row, const ntr_event *e) {
    set_text(row, COLUMN_NAME, ntr_status_name((ntr_status)e->reason));
    set_text(row, COLUMN_REASON, ntr_status_text((ntr_status)e->reason));
    set(row, COLUMN_UNTIL, e->gap.until);
    set(row, COLUMN_UNTIL_MESSAGE, e->gap.until_message);
    if (e->gap.from_known) set(row, COLUMN_FROM_ADDRESS, e->gap.from_address);
    if (e->gap.to_known) set(row, COLUMN_TO_ADDRESS, e->gap.to_address);
    if (e->gap.from_timed) set(row, COLUMN_FROM_TIME, e->gap.from_time);
    if (e->gap.to_timed) set(row, COLUMN_TO_TIME, e->gap.to_time);
}

static void fill_data(struct event_row *row, const ntr_event *e) {
    set(row, COLUMN_CODE, e->code);
    if (e->kind != NTR_EVENT_OVERFLOW) set(row, COLUMN_TAG, e->tag);
    set(row, COLUMN_DATA, e->data);
    if (e->kind == NTR_EVENT_DATA || e->kind == NTR_EVENT_ACCESS) set(row, COLUMN_DATA_SIZE, e->data_size);
    if (e->data_more[0] | e->data_more[1]) {
        set(row, COLUMN_DATA1, e->data_more[0]);
        set(row, COLUMN_DATA2, e->data_more[1]);
    }
    if (e->kind == NTR_EVENT_ICT || e->kind == NTR_EVENT_ACCESS) fill_address(row, e);
    if (e->kind == NTR_EVENT_ACCESS) set_text(row, COLUMN_NAME, ntr_data_access_name(e->code));
}

static void fill_watchpoint(struct event_row *row, const ntr_event *e) {
    set(row, COLUMN_DATA, e->data);
}

static void fill_trap_value(struct event_row *row, const ntr_event *e) {
    set(row, COLUMN_CODE, e->code);
    set(row, COLUMN_DATA, e->data);
}

static void fill_note(struct event_row *row, const ntr_event *e) {
    fill_address(row, e);
    set_text(row, COLUMN_NAME, ntr_status_name((ntr_status)e->reason));
    set_text(row, COLUMN_REASON, ntr_status_text((ntr_status)e->reason));
}

static void fill_vendor(struct event_row *row, const ntr_event *e) {
    set(row, COLUMN_CODE, e->code);
    set_text(row, COLUMN_NAME, ntr_tcode_name(NULL, e->code));
}

typedef void (*fill_function)(struct event_row *row, const ntr_event *event);

static const fill_function fills[NTR_EVENT_KINDS] = {
    [NTR_EVENT_SPAN] = fill_span,
    [NTR_EVENT_NO_CODE] = fill_span,
    [NTR_EVENT_SYNC] = fill_sync,
    [NTR_EVENT_CONTEXT] = fill_context,
    [NTR_EVENT_GAP] = fill_gap,
    [NTR_EVENT_STOP] = fill_stop,
    [NTR_EVENT_OVERFLOW] = fill_data,
    [NTR_EVENT_DATA] = fill_data,
    [NTR_EVENT_ICT] = fill_data,
    [NTR_EVENT_NOTE] = fill_note,
    [NTR_EVENT_VENDOR] = fill_vendor,
    [NTR_EVENT_ACCESS] = fill_data,
    [NTR_EVENT_WATCHPOINT] = fill_watchpoint,
    [NTR_EVENT_TRAP_VALUE] = fill_trap_value,
};

static void fill(struct event_row *row, const ntr_event *e) {
    set_text(row, COLUMN_KIND, ntr_event_kind_name(e->kind));
    set(row, COLUMN_SRC, e->src);
    set(row, COLUMN_OFFSET, e->offset);
    set(row, COLUMN_MESSAGE, e->message);
    if (e->flags & NTR_EVENT_TIME) set(row, COLUMN_TIME, e->time);
    if (e->kind < NTR_EVENT_KINDS && fills[e->kind]) fills[e->kind](row, e);
}

/* ---- writing */

#define VALUE_MAX 128 /* maximum length of name and value of a column; texts are constants of the library */
_Static_assert(COLUMN_COUNT *VALUE_MAX <= NTR_EVENT_TEXT_MAX, "any event fits");

static char *put_text(char *at, const char *text) {
    for (; text && *text; text++) *at++ = *text;
    return at;
}

static char *put_value(char *at, const struct event_row *row, unsigned column) {
    switch (columns[column].shape) {
    case SHAPE_TEXT: return put_text(at, row->text[column]);
    case SHAPE_DEC: return ntr_text_dec(at, row->number[column]);
    default: return ntr_text_hex(put_text(at, "0x"), row->number[column]);
    }
}

static size_t json_line(const ntr_event *event, char *text) {
    struct event_row row = {0};
    char *at = text;

    fill(&row, event);
    for (unsigned column = 0; column < COLUMN_COUNT; column++) {
        if (!(row.present >> column & 1u)) continue;
        bool quoted = columns[column].shape != SHAPE_DEC;
        *at++ = column == 0 ? '{' : ',';
        memcpy(at, columns[column].key, columns[column].key_size);
        at += columns[column].key_size;
        if (quoted) *at++ = '"';
        at = put_value(at, &row, column);
        if (quoted) *at++ = '"';
    }
    at = put_text(at, "}\n");
    return (size_t)(at - text);
}

static size_t csv_line(const ntr_event *event, char *text) {
    struct event_row row = {0};
    char *at = text;

    if (event) fill(&row, event);
    for (unsigned column = 0; column < COLUMN_COUNT; column++) {
        if (column) *at++ = ',';
        if (!event)
            at = put_text(at, columns[column].name);
        else if (row.present >> column & 1u)
            at = put_value(at, &row, column);
    }
    *at++ = '\n';
    return (size_t)(at - text);
}

/* Where every line fits, it is written in place. */
static size_t put_line(size_t (*line)(const ntr_event *, char *), const ntr_event *event, char *text, size_t capacity) {
    char whole[NTR_EVENT_TEXT_MAX];
    if (capacity >= NTR_EVENT_TEXT_MAX) return line(event, text);
    const size_t size = line(event, whole);
    if (size > capacity) return 0;
    memcpy(text, whole, size);
    return size;
}

size_t ntr_event_json(const ntr_event *event, char *text, size_t capacity) {
    return put_line(json_line, event, text, capacity);
}

size_t ntr_event_csv(const ntr_event *event, char *text, size_t capacity) {
    return put_line(csv_line, event, text, capacity);
}

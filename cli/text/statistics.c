#include "text/statistics.h"

#include <stdio.h>

static void count_sync(struct cli_statistics *s, const ntr_message *m) {
    uint64_t distance = m->offset - s->last_sync;

    if (s->sync_count && distance > s->longest_without_sync) s->longest_without_sync = distance;
    s->last_sync = m->offset;
    s->sync_count++;
    s->syncs[m->sync & 15]++;
    if (!NTR_HAS(m, TSTAMP)) return;
    if (!s->last_time) s->first_time = m->tstamp;
    if (m->tstamp > s->last_time) s->last_time = m->tstamp;
}

static void count_fields(struct cli_statistics *s, const ntr_message *m) {
    for (ntr_fields left = m->present; left; left &= left - 1) {
        unsigned field = (unsigned)__builtin_ctzll(left);
        s->field_count[field]++;
        s->field_bits[field] += m->width[field];
    }
}

void cli_statistics_add(struct cli_statistics *s, const ntr_message *m) {
    struct cli_tally *tcode = &s->tcodes[m->tcode < 64 ? m->tcode : 64];
    struct cli_tally *source = &s->sources[NTR_HAS(m, SRC) ? m->src & (CLI_SOURCES - 1) : 0];
    bool sync = ntr_tcode_is_sync(m->tcode) && !m->defect;

    s->messages++;
    s->bytes += m->size;
    s->defects += m->defect != 0;
    s->stamped += NTR_HAS(m, TSTAMP);
    tcode->messages++;
    tcode->bytes += m->size;
    if (sync) count_sync(s, m);
    if (NTR_HAS(m, EVCODE)) s->stops[m->evcode & 15]++;
    if (m->defect) return;
    source->messages++;
    source->bytes += m->size;
    source->syncs += sync;
    count_fields(s, m);
}

/* ---- */

static double ratio(double a, uint64_t b) {
    return b ? a / (double)b : 0.0;
}

static void write_total(const struct cli_statistics *s, const char *file, uint64_t idle, struct cli_rows *rows) {
    struct cli_row row = {"stream",
                          file,
                          true,
                          {CLI_COUNT("bytes", s->bytes + idle), CLI_COUNT("idle bytes", idle),
                           CLI_COUNT("messages", s->messages),
                           CLI_REAL("bytes each", ratio((double)s->bytes, s->messages), 2),
                           CLI_COUNT("defects", s->defects), CLI_COUNT("with TSTAMP", s->stamped),
                           CLI_COUNT("syncs", s->sync_count), CLI_COUNT("longest gap", s->longest_without_sync)}};
    uint64_t ticks = s->last_time - s->first_time;
    if (ticks) {
        row.cells[8] = (struct cli_cell)CLI_COUNT("ticks", ticks);
        row.cells[9] = (struct cli_cell)CLI_REAL("bytes per 1000 ticks", ratio(1000.0 * (double)s->bytes, ticks), 3);
    }
    cli_row_write(rows, &row);
}

static void write_messages(const struct cli_statistics *s, const ntr_dialect *dialect, struct cli_rows *rows) {
    for (unsigned tcode = 0; tcode < CLI_TCODES; tcode++) {
        const struct cli_tally *t = &s->tcodes[tcode];
        if (!t->messages) continue;
        struct cli_row row = {"message",
                              ntr_tcode_name(dialect, tcode < 64 ? tcode : NTR_TCODE_NONE),
                              false,
                              {CLI_COUNT("count", t->messages), CLI_COUNT("bytes", t->bytes),
                               CLI_REAL("bytes each", ratio((double)t->bytes, t->messages), 2),
                               CLI_REAL("percent", ratio(100.0 * (double)t->bytes, s->bytes), 1)}};
        cli_row_write(rows, &row);
    }
}

static void write_fields(const struct cli_statistics *s, struct cli_rows *rows) {
    for (unsigned field = 0; field < NTR_FIELD_COUNT; field++) {
        uint64_t count = s->field_count[field], bits = s->field_bits[field];
        if (!count) continue;
        struct cli_row row = {"field",
                              ntr_field_name((ntr_field)field),
                              false,
                              {CLI_COUNT("count", count), CLI_COUNT("bits", bits),
                               CLI_REAL("bits each", ratio((double)bits, count), 2),
                               CLI_REAL("percent", ratio(100.0 / 8.0 * (double)bits, s->bytes), 1)}};
        cli_row_write(rows, &row);
    }
}

static void write_codes(const char *kind, const uint64_t codes[16], const char *(*name)(unsigned code),
                        struct cli_rows *rows) {
    char label[40];

    for (unsigned code = 0; code < 16; code++) {
        if (!codes[code]) continue;
        snprintf(label, sizeof label, "%u %s", code, name(code));
        struct cli_row row = {kind, label, false, {CLI_COUNT("count", codes[code])}};
        cli_row_write(rows, &row);
    }
}

static void write_sources(const struct cli_statistics *s, struct cli_rows *rows) {
    char label[80];

    for (unsigned source = 0; source < CLI_SOURCES; source++) {
        const struct cli_tally *t = &s->sources[source];
        if (!t->messages) continue;
        const char *name = s->source_name ? s->source_name(s->user, (uint16_t)source) : NULL;
        snprintf(label, sizeof label, "%u%s%.64s", source, name ? " " : "", name ? name : "");
        struct cli_row row = {"source",
                              label,
                              false,
                              {CLI_COUNT("messages", t->messages), CLI_COUNT("bytes", t->bytes),
                               CLI_COUNT("syncs", t->syncs),
                               CLI_REAL("percent", ratio(100.0 * (double)t->bytes, s->bytes), 1)}};
        cli_row_write(rows, &row);
    }
}

void cli_statistics_write(const struct cli_statistics *s, const ntr_dialect *dialect, const char *file, uint64_t idle,
                          struct cli_rows *rows) {
    write_total(s, file, idle, rows);
    write_messages(s, dialect, rows);
    write_fields(s, rows);
    write_codes("SYNC", s->syncs, ntr_sync_name, rows);
    write_codes("EVCODE", s->stops, ntr_evcode_name, rows);
    write_sources(s, rows);
}

void cli_statistics_write_execution(const ntr_counts *c, struct cli_rows *rows) {
    struct cli_row row = {"execution",
                          "all sources",
                          true,
                          {CLI_COUNT("instructions", c->instructions), CLI_COUNT("halfwords", c->halfwords),
                           CLI_REAL("bits per instruction", ratio(8.0 * (double)c->bytes, c->instructions), 4),
                           CLI_REAL("instructions each message", ratio((double)c->instructions, c->messages), 1),
                           CLI_COUNT("spans", c->spans), CLI_COUNT("branches", c->branches),
                           CLI_COUNT("taken", c->taken), CLI_COUNT("calls", c->calls), CLI_COUNT("returns", c->returns),
                           CLI_COUNT("exceptions", c->exceptions), CLI_COUNT("interrupts", c->interrupts),
                           CLI_COUNT("gaps", c->gaps)}};
    cli_row_write(rows, &row);
}

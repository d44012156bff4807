/* The table of rules, and the processing of a stream. */
#include <ntrace/check.h>

#include "base/config.h"
#include "base/allocator.h"
#include "check/check_state.h"
#include "check/flow_rules.h"
#include "message/sets.h"

#include <ntrace/params.h>
#include <ntrace/reader.h>
#include <string.h>

enum { HABIT_NONE, HABIT_REFCODE, HABIT_OLDER };
enum { ANY_STATE = 0, UNSTEADY = 1 };

/* Column WHEN of rules.def. */
enum {
    WHEN_NONE,   /* the rule is not one of messages */
    WHEN_DEFECT, /* messages with a defect, for which all rules are tested */
    WHEN_ANY,
    WHEN_OTHER, /* all but those of N-Trace 1.0 */
    WHEN_FIELD, /* those that may have the rule's field */
    WHEN_COUNT, /* those that may have I-CNT */
    WHEN_HISTORY,
    WHEN_FLOW,
    WHEN_DIRECT,
    WHEN_BRANCH, /* the next ones: those of the role */
    WHEN_SYNC,
    WHEN_STOP,
    WHEN_LOSS,
    WHEN_REPEAT,
    WHEN_RESOURCE,
    WHEN_CONTEXT,
};

static const ntr_check_row rows[] = {
#define NTR_CHECK(id, severity, habit, section, statements, when, state, test, field, argument, about, breaking)       \
    {{id, section, about, breaking, NTR_SEVERITY_##severity, NTR_FIELD_##field, statements},                           \
     HABIT_##habit,                                                                                                    \
     ntr_rule_##test,                                                                                                  \
     argument,                                                                                                         \
     WHEN_##when,                                                                                                      \
     state},
#include "check/rules.def"
#undef NTR_CHECK
};

#define ROWS (sizeof rows / sizeof rows[0])

/* The rules to test for the messages of one TCODE: their numbers, ended by LIST_END. */
enum { LIST_END = 0xff };
_Static_assert(ROWS < LIST_END, "numbers of rules are bytes");
typedef uint8_t rule_list[ROWS + 1];

struct ntr_check {
    ntr_check_config config;
    ntr_reader reader;
    ntr_check_source *sources[NTR_SOURCES_MAX]; /* created on first use */
    ntr_check_flow *flow;               /* NULL without a program */
    rule_list lists[2][64];             /* [1]: while the source is steady */
};

/* These rules are checked by a decoder. See report_flow. */
bool ntr_rule_flow(const ntr_check_view *view, const ntr_check_row *row) {
    (void)view, (void)row;
    return false;
}

bool ntr_rule_flow_note(const ntr_check_view *view, const ntr_check_row *row) {
    (void)view, (void)row;
    return false;
}

bool ntr_rule_flow_early(const ntr_check_view *view, const ntr_check_row *row) {
    (void)view, (void)row;
    return false;
}

bool ntr_rule_flow_predictable(const ntr_check_view *view, const ntr_check_row *row) {
    (void)view, (void)row;
    return false;
}

const ntr_check_rule *ntr_check_rule_at(size_t index) {
    return index < ROWS ? &rows[index].rule : NULL;
}

const char *ntr_severity_name(ntr_severity severity) {
    static const char *const names[] = {"note", "warning", "error"};
    return (unsigned)severity < 3 ? names[severity] : NULL;
}

/* ---- findings */

/* Returns whether encoders of the dialect are known to violate the rule. */
static bool is_habit(const ntr_check_row *row, const ntr_dialect *dialect) {
    if (!dialect || row->habit == HABIT_NONE) return false;
    if (dialect->messages & NTR_MESSAGES_SIFIVE) return row->habit == HABIT_OLDER;
    return strcmp(dialect->name, "refcode") == 0;
}

static ntr_finding finding_of(const ntr_check *c, const ntr_check_row *row) {
    const bool habit =
        is_habit(row, c->config.params.dialect) || (c->config.begins_inside && row->test == ntr_rule_before_sync);
    return (ntr_finding){.rule = &row->rule,
                         .index = (size_t)(row - rows),
                         .field = row->rule.field,
                         .tcode = NTR_TCODE_NONE,
                         .severity = habit ? NTR_SEVERITY_NOTE : row->rule.severity};
}

static void report_message(const ntr_check *c, const ntr_check_row *row, const ntr_message *m) {
    ntr_finding f = finding_of(c, row);
    if (f.field == NTR_FIELD_NONE && m->defect) f.field = m->defect_field;
    f.tcode = m->tcode;
    f.has_source = NTR_HAS(m, SRC);
    f.src = f.has_source ? (uint16_t)m->src : 0;
    f.offset = m->offset;
    f.size = m->size;
    f.message = m->number;
    f.at = m;
    c->config.found(c->config.user, &f);
}

static bool matches(const ntr_check_row *row, const ntr_flow_finding *found) {
    switch (found->kind) {
    case NTR_FLOW_PREDICTABLE: return row->test == ntr_rule_flow_predictable;
    case NTR_FLOW_EARLY: return row->test == ntr_rule_flow_early;
    case NTR_FLOW_NOTE:
        if (row->test == ntr_rule_flow_note) return row->argument == found->reason;
        return row->test == ntr_rule_flow && row->argument == found->reason && found->reason != NTR_E_NO_LANDING;
    default: return row->test == ntr_rule_flow && row->argument == found->reason;
    }
}

static void report_flow(const ntr_check *c, const ntr_flow_finding *found) {
    for (size_t i = 0; i < ROWS; i++) {
        if (!matches(&rows[i], found)) continue;
        ntr_finding f = finding_of(c, &rows[i]);
        f.has_source = c->config.params.src_bits != 0;
        f.src = found->src;
        f.offset = found->offset;
        f.message = found->message;
        f.address = found->address;
        f.has_address = found->has_address;
        c->config.found(c->config.user, &f);
    }
}

/* ---- messages */

/* Returns the set of TCODEs of the messages that a rule may apply to. It may be larger than needed: the test decides.
 */
static uint64_t set_of(const ntr_check_row *row) {
    switch (row->when) {
    case WHEN_ANY: return UINT64_MAX;
    case WHEN_OTHER: return ~ntr_tcodes_of_dialects(NTR_MESSAGES_1_0);
    case WHEN_FIELD: return ntr_tcodes_with_field(row->rule.field);
    case WHEN_COUNT: return ntr_tcodes_with_field(NTR_FIELD_ICNT);
    case WHEN_HISTORY:
        return ntr_tcodes_with_field(NTR_FIELD_HIST) | ntr_tcodes_with(NTR_FLAG_HISTORY_END) |
               ntr_tcodes_of_role(NTR_ROLE_RESOURCE);
    case WHEN_FLOW: return ntr_tcodes_of_flow();
    case WHEN_DIRECT: return ntr_tcodes_with(NTR_FLAG_DIRECT);
    case WHEN_BRANCH: return ntr_tcodes_of_role(NTR_ROLE_BRANCH);
    case WHEN_SYNC: return ntr_tcodes_of_role(NTR_ROLE_SYNC);
    case WHEN_STOP: return ntr_tcodes_of_role(NTR_ROLE_STOP);
    case WHEN_LOSS: return ntr_tcodes_of_role(NTR_ROLE_LOSS);
    case WHEN_REPEAT: return ntr_tcodes_of_role(NTR_ROLE_REPEAT);
    case WHEN_RESOURCE: return ntr_tcodes_of_role(NTR_ROLE_RESOURCE);
    case WHEN_CONTEXT: return ntr_tcodes_of_role(NTR_ROLE_CONTEXT);
    default: return 0;
    }
}

/* Rules without a parameter that they need are not tested. */
static bool is_wanted(const ntr_check_config *config, const ntr_check_row *row) {
    const unsigned width = config->params.ts_width;
    if (row->test == ntr_rule_above_ts_width) return width && width < 64;
    return row->test != ntr_rule_sync_late || config->sync_period;
}

static void make_lists(ntr_check *c) {
    for (unsigned steady = 0; steady < 2; steady++)
        for (unsigned tcode = 0; tcode < 64; tcode++) {
            uint8_t *at = c->lists[steady][tcode];
            for (size_t i = 0; i < ROWS; i++)
                if (set_of(&rows[i]) >> tcode & 1 && !(steady && rows[i].unsteady) && is_wanted(&c->config, &rows[i]))
                    *at++ = (uint8_t)i;
            *at = LIST_END;
        }
}

static void judge(const ntr_check *c, const ntr_message *m, const ntr_check_source *s) {
    const ntr_check_view view = {&c->config, m, s, ntr_check_mode_of(s, &c->config.params, m)};
    for (const uint8_t *i = c->lists[s->steady][m->tcode & 63]; *i != LIST_END; i++)
        if (rows[*i].test(&view, &rows[*i])) report_message(c, &rows[*i], m);
}

/* Rules about the sequence of messages do not apply to a message with a defect. */
static void judge_defect(ntr_check *c, const ntr_message *m) {
    const ntr_check_source lost = {.phase = NTR_PHASE_LOST, .last.tcode = NTR_TCODE_NONE};
    const ntr_check_view view = {&c->config, m, &lost, NTR_MODE_UNKNOWN};
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].test(&view, &rows[i])) report_message(c, &rows[i], m);
    for (size_t i = 0; i < NTR_SOURCES_MAX; i++)
        if (c->sources[i]) ntr_check_lose(c->sources[i]);
}

static ntr_status take(ntr_check *c, const ntr_message *m) {
    if (m->defect) {
        judge_defect(c, m);
        return NTR_OK;
    }
    ntr_check_source **place = &c->sources[NTR_HAS(m, SRC) ? m->src % NTR_SOURCES_MAX : 0];
    if (!*place) *place = ntr_alloc(c->config.allocator, 1, sizeof **place);
    if (!*place) return NTR_E_MEMORY;
    judge(c, m, *place);
    ntr_check_follow(*place, &c->config.params, m);
    return NTR_OK;
}

static void take_flow(const ntr_check *c, uint64_t message) {
    ntr_flow_finding found;
    while (c->flow && ntr_check_flow_next(c->flow, message, &found)) report_flow(c, &found);
}

/* ---- */

ntr_status ntr_check_new(const ntr_check_config *given, ntr_check **out) {
    *out = NULL;
    ntr_check_config loaded, *config = &loaded;
    ntr_status status = ntr_config_load(&loaded, sizeof loaded, given);
    if (status == NTR_OK && !config->found) status = NTR_E_INVALID;
    if (status != NTR_OK) return status;
    ntr_check *c = ntr_alloc(config->allocator, 1, sizeof *c);
    if (!c) return NTR_E_MEMORY;
    c->config = loaded;
    make_lists(c);
    status = ntr_reader_init(&c->reader, &config->params);
    if (config->mid_stream) ntr_reader_seek_start(&c->reader);
    if (status == NTR_OK && config->program) c->flow = ntr_check_flow_new(config, &status);
    if (status == NTR_OK)
        *out = c;
    else
        ntr_check_free(c);
    return status;
}

void ntr_check_free(ntr_check *c) {
    if (!c) return;
    for (size_t i = 0; i < NTR_SOURCES_MAX; i++) ntr_dealloc(c->config.allocator, c->sources[i]);
    ntr_check_flow_free(c->flow);
    ntr_dealloc(c->config.allocator, c);
}

ntr_status ntr_check_feed(ntr_check *c, const uint8_t *data, size_t size, bool last) {
    ntr_message message;
    ntr_status status = ntr_reader_feed(&c->reader, data, size, last);
    if (status == NTR_OK && c->flow) status = ntr_check_flow_feed(c->flow, data, size, last);
    while (status == NTR_OK && ntr_reader_next(&c->reader, &message) == NTR_OK) {
        status = take(c, &message);
        take_flow(c, message.number);
    }
    take_flow(c, UINT64_MAX);
    return status == NTR_OK && c->flow ? ntr_check_flow_status(c->flow) : status;
}

uint64_t ntr_check_messages(const ntr_check *c) {
    return c->reader.number;
}

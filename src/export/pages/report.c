/* Report: one self-contained HTML page. The skeleton, style and script of the page are assets. The data is one JSON
 * object in the page, which the script displays. */
#include "analysis/followers.h"
#include "export/pages/flame_layout.h"
#include "export/pages/report_parts.h"

#include <ntrace/profile.h>
#include <string.h>

static const char page[] = {
#include "report.html.inc"
    , 0};
static const char style[] = {
#include "report.css.inc"
    , 0};
static const char script[] = {
#include "report.js.inc"
    , 0};

/* ---- the trace as a whole */

static ntr_status make_profile(ntr_export *x, ntr_profile *profile, ntr_profile_by by) {
    const ntr_analysis *a = &x->analysis;
    return ntr_profile_make(profile, by, a->program, a->debug, a->functions, a->tree, a->tally, x->allocator);
}

static void write_facts(ntr_export *x) {
    const char *separator = "[";
    for (size_t i = 0; i < x->analysis.fact_count; i++) {
        if (!*x->analysis.facts[i].value) continue;
        ntr_out_text(&x->out, separator);
        separator = ",[";
        ntr_out_json(&x->out, x->analysis.facts[i].label);
        ntr_out_char(&x->out, ',');
        ntr_out_json(&x->out, x->analysis.facts[i].value);
        ntr_out_char(&x->out, ']');
    }
}

static ntr_status write_summary(ntr_export *x) {
    struct ntr_report *r = x->state;
    ntr_cover_sums sums;
    ntr_profile harts;
    ntr_status status = make_profile(x, &harts, NTR_PROFILE_HART);
    if (status) return status;
    ntr_coverage_sums(r->coverage, NULL, &sums);
    ntr_out_text(&x->out, "{\"title\":");
    ntr_out_json(&x->out, x->analysis.title ? x->analysis.title : "trace");
    ntr_out_format(&x->out, ",\"instructions\":%llu,\"ticksPerSecond\":%llu", (unsigned long long)harts.instructions,
                   (unsigned long long)x->analysis.ticks_per_second);
    ntr_out_format(&x->out, ",\"lines\":[%llu,%llu,%llu],\"branches\":[%llu,%llu],\"functions\":[%llu,%llu,%llu]",
                   (unsigned long long)sums.lines, (unsigned long long)sums.lines_hit,
                   (unsigned long long)sums.lines_unknown, (unsigned long long)sums.branches,
                   (unsigned long long)sums.branches_hit, (unsigned long long)sums.functions,
                   (unsigned long long)sums.functions_hit, (unsigned long long)sums.functions_unknown);
    ntr_out_text(&x->out, ",\"harts\":[");
    for (size_t i = 0; i < harts.count; i++)
        ntr_out_format(&x->out, "%s[%u,%llu]", i ? "," : "", harts.rows[i].src, (unsigned long long)harts.rows[i].self);
    ntr_out_text(&x->out, "],\"facts\":[");
    write_facts(x);
    ntr_out_text(&x->out, "]}");
    ntr_profile_release(&harts);
    return NTR_OK;
}

/* ---- gaps and losses */

static void write_gap(ntr_export *x, const ntr_event *gap) {
    ntr_out_format(&x->out, "[%u,%llu,%llu,%llu,", gap->src, (unsigned long long)gap->offset,
                   (unsigned long long)gap->gap.until, (unsigned long long)gap->message);
    ntr_out_json(&x->out, ntr_status_text((ntr_status)gap->reason));
    const struct {
        bool known;
        uint64_t address;
    } ends[] = {{gap->gap.from_known, gap->gap.from_address}, {gap->gap.to_known, gap->gap.to_address}};
    for (size_t i = 0; i < 2; i++)
        if (ends[i].known)
            ntr_out_format(&x->out, ",\"0x%llx\"", (unsigned long long)ends[i].address);
        else
            ntr_out_text(&x->out, ",null");
    ntr_out_char(&x->out, ']');
}

static ntr_status write_gaps(ntr_export *x) {
    const struct ntr_report *r = x->state;
    const char *comma = "";
    ntr_out_format(&x->out, "{\"count\":%llu,\"bytes\":%llu,\"overflows\":%llu,\"blind\":%llu,\"reasons\":[",
                   (unsigned long long)r->gap_count, (unsigned long long)r->gap_bytes, (unsigned long long)r->overflows,
                   (unsigned long long)r->blind);
    for (size_t i = 0; i < sizeof r->reasons / sizeof r->reasons[0]; i++) {
        if (!r->reasons[i]) continue;
        ntr_out_format(&x->out, "%s[", comma);
        ntr_out_json(&x->out, ntr_status_text((ntr_status) - (int)i));
        ntr_out_format(&x->out, ",%llu]", (unsigned long long)r->reasons[i]);
        comma = ",";
    }
    ntr_out_text(&x->out, "],\"losses\":[");
    for (size_t i = 0; i < x->analysis.loss_count; i++) {
        if (i) ntr_out_char(&x->out, ',');
        ntr_out_json(&x->out, x->analysis.losses[i]);
    }
    ntr_out_text(&x->out, "],\"rows\":[");
    for (size_t i = 0; i < r->gap_count && i < NTR_REPORT_GAPS; i++) {
        if (i) ntr_out_text(&x->out, ",\n");
        write_gap(x, &r->gaps[i]);
    }
    ntr_out_text(&x->out, "]}");
    return NTR_OK;
}

/* ---- functions: the rows of `ntrace profile` */

static void write_function(ntr_export *x, const ntr_profile_row *row) {
    char copy[NTR_OUT_SHORT + 4];
    ntr_out_char(&x->out, '[');
    ntr_out_json(&x->out, row->name ? ntr_out_shorten(row->name, copy) : "[unknown]");
    ntr_out_char(&x->out, ',');
    ntr_out_json(&x->out, row->file);
    ntr_out_format(&x->out, ",%u,%llu,%llu,%llu,%llu,%llu,\"0x%llx\",", (unsigned)row->line,
                   (unsigned long long)row->self, (unsigned long long)row->total, (unsigned long long)row->calls,
                   (unsigned long long)row->self_ticks, (unsigned long long)row->total_ticks,
                   (unsigned long long)row->address);
    ntr_out_json(&x->out, row->image);
    ntr_out_char(&x->out, ']');
}

static ntr_status write_functions(ntr_export *x) {
    ntr_profile profile;
    ntr_status status = make_profile(x, &profile, NTR_PROFILE_FUNCTION);
    if (status) return status;
    size_t shown = profile.count < NTR_REPORT_FUNCTIONS ? profile.count : NTR_REPORT_FUNCTIONS;
    ntr_out_format(&x->out, "{\"instructions\":%llu,\"ticks\":%llu,\"count\":%llu,\"rows\":[",
                   (unsigned long long)profile.instructions, (unsigned long long)profile.ticks,
                   (unsigned long long)profile.count);
    for (size_t i = 0; i < shown; i++) {
        if (i) ntr_out_text(&x->out, ",\n");
        write_function(x, &profile.rows[i]);
    }
    ntr_out_text(&x->out, "],\n\"calls\":[");
    status = ntr_report_calls(x, profile.rows, shown);
    ntr_out_text(&x->out, "]}");
    ntr_profile_release(&profile);
    return status;
}

/* ---- the page: {{NAME}} in the skeleton is replaced by a part */

static ntr_status write_title(ntr_export *x) {
    ntr_out_xml(&x->out, x->analysis.title ? x->analysis.title : "trace");
    return NTR_OK;
}

static ntr_status write_style(ntr_export *x) {
    ntr_out_text(&x->out, style);
    return NTR_OK;
}

static ntr_status write_script(ntr_export *x) {
    ntr_out_text(&x->out, script);
    return NTR_OK;
}

static ntr_status write_flame(ntr_export *x) {
    ntr_flame flame;
    ntr_status status = ntr_flame_make(&flame, x, NTR_REPORT_BOXES * 2, NTR_REPORT_BOXES);
    if (status) return status;
    ntr_flame_write_svg(x, &flame, false);
    ntr_flame_release(&flame);
    return NTR_OK;
}

typedef struct report_part {
    const char *name;
    ntr_status (*write)(ntr_export *x);
} report_part;

static ntr_status write_data(ntr_export *x) {
    static const report_part members[] = {
        {"summary", write_summary},        {"gaps", write_gaps},
        {"functions", write_functions},    {"source", ntr_report_source},
        {"timeline", ntr_report_timeline}, {"traps", ntr_report_traps},
    };
    ntr_status status = NTR_OK;
    x->out.in_script = true;
    for (size_t i = 0; !status && i < sizeof members / sizeof members[0]; i++) {
        ntr_out_format(&x->out, "%s\"%s\":", i ? ",\n" : "{", members[i].name);
        status = members[i].write(x);
    }
    ntr_out_text(&x->out, "}");
    x->out.in_script = false;
    return status;
}

static ntr_status write_part(ntr_export *x, const char *name, size_t size) {
    static const report_part parts[] = {
        {"title", write_title}, {"style", write_style},   {"flame", write_flame},
        {"data", write_data},   {"script", write_script},
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (strlen(parts[i].name) == size && memcmp(parts[i].name, name, size) == 0) return parts[i].write(x);
    return NTR_E_INVALID;
}

static ntr_status write_page(ntr_export *x) {
    const char *at = page, *open, *close;
    ntr_status status = NTR_OK;
    while (!status && (open = strstr(at, "{{")) && (close = strstr(open, "}}"))) {
        ntr_out_bytes(&x->out, at, (size_t)(open - at));
        status = write_part(x, open + 2, (size_t)(close - open - 2));
        at = close + 2;
    }
    ntr_out_text(&x->out, at);
    return status;
}

/* ---- */

/* The call stacks are reconstructed once, by the call tree, unless it has had events before. */
static void follow_tree(ntr_export *x) {
    struct ntr_report *r = x->state;
    ntr_calltree *tree = x->analysis.tree;
    if (!ntr_calltree_is_unused(tree)) return;
    const ntr_follower timeline = ntr_timeline_follower(r->timeline),
                       interrupts = ntr_interrupts_follower(r->interrupts);
    r->follows = ntr_calltree_follow(tree, &timeline) && ntr_calltree_follow(tree, &interrupts);
}

static ntr_status begin(ntr_export *x) {
    struct ntr_report *r = x->state;
    ntr_timeline_new(x->analysis.functions, NTR_REPORT_SLICES, x->allocator, &r->timeline);
    ntr_interrupts_new(x->analysis.functions, x->allocator, &r->interrupts);
    ntr_coverage_new(x->allocator, &r->coverage);
    if (!r->timeline || !r->interrupts || !r->coverage) return NTR_E_MEMORY;
    follow_tree(x);
    return NTR_OK;
}

static void take_gap(struct ntr_report *r, const ntr_event *gap) {
    const size_t reasons = sizeof r->reasons / sizeof r->reasons[0];
    const int reason = -gap->reason;
    if (r->gap_count < NTR_REPORT_GAPS) r->gaps[r->gap_count] = *gap;
    r->gap_count++;
    if (gap->gap.until > gap->offset) r->gap_bytes += gap->gap.until - gap->offset;
    if (reason >= 0 && (size_t)reason < reasons) r->reasons[reason]++;
}

static ntr_status events(ntr_export *x, const ntr_event *list, size_t count) {
    struct ntr_report *r = x->state;
    for (size_t i = 0; i < count; i++) {
        if (list[i].kind == NTR_EVENT_GAP) take_gap(r, &list[i]);
        r->overflows += list[i].kind == NTR_EVENT_OVERFLOW;
        r->blind += list[i].kind == NTR_EVENT_NO_CODE;
    }
    if (r->follows) return NTR_OK;
    ntr_status status = ntr_timeline_feed(r->timeline, list, count);
    return status ? status : ntr_interrupts_feed(r->interrupts, list, count);
}

static ntr_status end(ntr_export *x) {
    struct ntr_report *r = x->state;
    const ntr_analysis *a = &x->analysis;
    if (r->follows) ntr_calltree_end_following(a->tree, true);
    r->follows = false;
    ntr_status status = ntr_timeline_finish(r->timeline);
    if (!status) status = ntr_interrupts_finish(r->interrupts);
    ntr_coverage_set_sources(r->coverage, a->read_certain, a->read_source_user);
    if (!status) status = ntr_coverage_add(r->coverage, a->program, a->debug, a->tally);
    return status ? status : write_page(x);
}

static void release(ntr_export *x) {
    struct ntr_report *r = x->state;
    if (r->follows) ntr_calltree_end_following(x->analysis.tree, false);
    ntr_timeline_free(r->timeline);
    ntr_interrupts_free(r->interrupts);
    ntr_coverage_free(r->coverage);
}

static bool follows(const ntr_export *x) {
    const struct ntr_report *r = x->state;
    return r->follows;
}

const ntr_exporter ntr_exporter_report_html = {
    .name = "html",
    .family = "report",
    .summary = "one self-contained HTML page",
    .needs = NTR_NEEDS_EVENTS | NTR_NEEDS_CALLS | NTR_NEEDS_TALLY | NTR_NEEDS_TREE | NTR_NEEDS_STACKS,
    .state_size = sizeof(struct ntr_report),
    .begin = begin,
    .events = events,
    .end = end,
    .release = release,
    .follows = follows,
};

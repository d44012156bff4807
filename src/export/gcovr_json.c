/* JSON tracefile of gcovr, of the format version that gcovr 7 reads: it accepts no other version. Lines and functions
 * that a gap may hide are omitted. One member that gcovr requires is not measured: blocks_percent is the share of
 * executed lines. */
#include "export/cover_files.h"

#include "base/allocator.h"

#define FORMAT_VERSION "0.6"

static void write_outcome(ntr_out *out, size_t number, uint64_t count, bool falls) {
    ntr_out_format(out, "%s{\"blockno\":%zu,\"count\":%llu,\"fallthrough\":%s,\"throw\":false}",
                   number || !falls ? "," : "", number, (unsigned long long)count, falls ? "true" : "false");
}

static void write_lines(ntr_out *out, const ntr_cover_part *part) {
    const char *before = "\n";
    for (size_t i = part->first_line; i < part->last_line; i++) {
        const ntr_cover_line *line = &part->lines[i];
        if (!line->known) continue;
        ntr_out_format(out, "%s{\"line_number\":%u,\"count\":%llu,\"branches\":[", before, line->line,
                       (unsigned long long)line->count);
        before = ",\n";
        for (size_t k = 0; k < line->branches; k++) {
            const ntr_cover_branch *branch = &part->branches[line->first_branch + k];
            write_outcome(out, k, branch->not_taken, true);
            write_outcome(out, k, branch->taken, false);
        }
        ntr_out_text(out, "]}");
    }
}

static void write_function(ntr_out *out, const ntr_cover_part *part, size_t index, const size_t *list, size_t count) {
    const ntr_cover_function *function = &part->functions[index];
    size_t hit = 0;
    for (size_t i = 0; function->count && i < count; i++) hit += part->lines[list[i]].count != 0;
    const double percent = count ? 100.0 * (double)hit / (double)count : function->count ? 100.0 : 0.0;
    ntr_out_text(out, "{\"name\":");
    ntr_out_json(out, function->name);
    ntr_out_format(out, ",\"lineno\":%u,\"execution_count\":%llu,\"returned_count\":%llu,\"blocks_percent\":%.1f}",
                   function->line, (unsigned long long)function->count, (unsigned long long)function->returned,
                   percent);
}

static ntr_status write_functions(ntr_export *x, const ntr_cover_part *part) {
    const char *before = "\n";
    size_t *list = ntr_alloc(x->allocator, part->last_line - part->first_line, sizeof *list);
    if (!list) return NTR_E_MEMORY;
    for (size_t i = part->first_function; i < part->last_function && !x->out.status; i++) {
        if (!part->functions[i].known) continue;
        ntr_out_text(&x->out, before);
        before = ",\n";
        write_function(&x->out, part, i, list, ntr_cover_function_lines(part, i, list));
    }
    ntr_dealloc(x->allocator, list);
    return NTR_OK;
}

static ntr_status end(ntr_export *x) {
    const ntr_cover_root root = ntr_cover_find_root(x);
    const char *before = "";
    ntr_status status = NTR_OK;
    ntr_out_text(&x->out, "{\"gcovr/format_version\":\"" FORMAT_VERSION "\",\"files\":[");
    for (ntr_cover_part part = {0}; !status && ntr_cover_next_part(x->analysis.coverage, &part); before = ",") {
        ntr_out_text(&x->out, before);
        ntr_out_text(&x->out, "\n{\"file\":");
        ntr_out_json(&x->out, ntr_cover_relative(&root, part.file));
        ntr_out_text(&x->out, ",\"lines\":[");
        write_lines(&x->out, &part);
        ntr_out_text(&x->out, "],\"functions\":[");
        status = write_functions(x, &part);
        ntr_out_text(&x->out, "]}");
    }
    ntr_out_text(&x->out, "]}\n");
    return status;
}

const ntr_exporter ntr_exporter_gcovr_json = {
    .name = "gcovr-json",
    .family = "coverage",
    .summary = "JSON tracefile of gcovr 7 (gcovr -a)",
    .needs = NTR_NEEDS_COVERAGE,
    .end = end,
};

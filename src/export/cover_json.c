/* Coverage as one JSON document: files with their lines, branches and functions. */
#include "export/cover_files.h"

static void write_lines(ntr_export *x, const char *file) {
    size_t count, branch_count;
    bool first = true;
    const ntr_cover_line *lines = ntr_coverage_lines(x->analysis.coverage, &count);
    const ntr_cover_branch *branches = ntr_coverage_branches(x->analysis.coverage, &branch_count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(lines[i].file, file) != 0) continue;
        ntr_out_format(&x->out, "%s\n  {\"line\":%u,\"count\":%llu,\"known\":%s", first ? "" : ",", lines[i].line,
                       (unsigned long long)lines[i].count, lines[i].known ? "true" : "false");
        first = false;
        if (lines[i].branches) ntr_out_text(&x->out, ",\"branches\":[");
        for (size_t k = 0; k < lines[i].branches; k++) {
            const ntr_cover_branch *branch = &branches[lines[i].first_branch + k];
            ntr_out_format(&x->out, "%s{\"address\":\"0x%llx\",\"taken\":%llu,\"not_taken\":%llu}", k ? "," : "",
                           (unsigned long long)branch->address, (unsigned long long)branch->taken,
                           (unsigned long long)branch->not_taken);
        }
        ntr_out_text(&x->out, lines[i].branches ? "]}" : "}");
    }
}

/* By what the lines of a function of clang were counted; NULL: by gcov's rule, or not known. */
static const char *const sources[] = {[NTR_COVER_SOURCE_USED] = "used",
                                      [NTR_COVER_SOURCE_OPTIMIZED] = "optimized",
                                      [NTR_COVER_SOURCE_UNKNOWN] = "unknown",
                                      [NTR_COVER_SOURCE_NOT_UNDERSTOOD] = "not understood"};

static void write_functions(ntr_export *x, const char *file) {
    size_t count;
    bool first = true;
    const ntr_cover_function *functions = ntr_coverage_functions(x->analysis.coverage, &count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(functions[i].file, file) != 0) continue;
        ntr_out_text(&x->out, first ? "\n  {\"name\":" : ",\n  {\"name\":");
        first = false;
        ntr_out_json(&x->out, functions[i].name);
        ntr_out_text(&x->out, ",\"linkage\":");
        ntr_out_json(&x->out, functions[i].linkage);
        ntr_out_format(&x->out, ",\"line\":%u,\"count\":%llu,\"known\":%s", functions[i].line,
                       (unsigned long long)functions[i].count, functions[i].known ? "true" : "false");
        const char *source = sources[functions[i].source];
        if (source) ntr_out_format(&x->out, ",\"source\":\"%s\"", source);
        ntr_out_char(&x->out, '}');
    }
}

static ntr_status end(ntr_export *x) {
    const char *file;
    bool first = true;
    ntr_out_format(&x->out, "{\"format\":\"ntrace-lines\",\"version\":1,\"rule\":\"%s\",\"gaps\":%llu,\"files\":[",
                   ntr_cover_rule_name(x->analysis.coverage),
                   (unsigned long long)ntr_coverage_gaps(x->analysis.coverage));
    for (size_t at = 0; (file = ntr_cover_next_file(x->analysis.coverage, &at));) {
        ntr_out_text(&x->out, first ? "\n{\"file\":" : ",\n{\"file\":");
        first = false;
        ntr_out_json(&x->out, file);
        ntr_out_text(&x->out, ",\"lines\":[");
        write_lines(x, file);
        ntr_out_text(&x->out, "],\"functions\":[");
        write_functions(x, file);
        ntr_out_text(&x->out, "]}");
    }
    ntr_out_char(&x->out, ']');
    ntr_export_quality(x);
    ntr_out_text(&x->out, "}\n");
    return NTR_OK;
}

const ntr_exporter ntr_exporter_cover_json = {
    .name = "json",
    .family = "coverage",
    .summary = "JSON: every line, branch and function",
    .needs = NTR_NEEDS_COVERAGE,
    .end = end,
};

#include "commands/coverage/page.h"

#include <ntrace/version.h>

#include <string.h>

/* docs/anomalies.md */
static const char anomalies[] = {
#include "anomalies.md.inc"
    , 0};

/* id, releases, effect, when, how it is noticed, what to do */
enum { COLUMNS = 6, RELEASES = 1 };

struct anomaly_cell {
    const char *text;
    size_t size;
};

/* Stores the cells of a row of the table. Returns false for other lines. */
static bool read_row(const char *line, size_t size, struct anomaly_cell *cells) {
    static const char begin[] = "| AN-";
    const char *at = line + 2, *const end = line + size;

    if (size < sizeof begin || strncmp(line, begin, sizeof begin - 1) != 0) return false;
    for (unsigned i = 0; i < COLUMNS; i++) {
        const char *next = at;
        while (next + 1 < end && !(next[0] == ' ' && next[1] == '|')) next++;
        if (next + 1 >= end) return false;
        cells[i] = (struct anomaly_cell){at, (size_t)(next - at)};
        at = next + 3 <= end ? next + 3 : end;
    }
    return true;
}

/* Returns whether the list of releases has this release, and not only those before it. */
static bool concerns(const struct anomaly_cell *releases) {
    static const char version[] = NTR_VERSION_TEXT;
    const size_t size = sizeof version - 1;

    for (size_t i = 0; i + size <= releases->size; i++) {
        if (memcmp(releases->text + i, version, size) != 0) continue;
        if (i < 7 || memcmp(releases->text + i - 7, "before ", 7) != 0) return true;
    }
    return false;
}

void cli_coverage_page_anomalies(struct cli_output *out) {
    struct anomaly_cell cells[COLUMNS];

    cli_output_text(
        out, "<h3>Known anomalies of ntrace " NTR_VERSION_TEXT
             "</h3>\n<details><summary>what can make an answer differ from what the hardware did "
             "(docs/anomalies.md)</summary>\n<table class=\"rows\"><thead><tr><th>id</th><th>effect</th><th>when</th>"
             "<th>how it is noticed</th><th>what to do</th></tr></thead>\n");
    for (const char *line = anomalies; *line;) {
        const size_t size = strcspn(line, "\n");
        if (read_row(line, size, cells) && concerns(&cells[RELEASES])) {
            cli_output_text(out, "<tr>");
            for (unsigned i = 0; i < COLUMNS; i++) {
                if (i == RELEASES) continue;
                cli_output_text(out, "<td>");
                cli_output_xml_bytes(out, cells[i].text, cells[i].size);
                cli_output_text(out, "</td>");
            }
            cli_output_text(out, "</tr>\n");
        }
        line += size + (line[size] == '\n');
    }
    cli_output_text(out, "</table></details>\n");
}

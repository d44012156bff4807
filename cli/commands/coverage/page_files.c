#include "commands/coverage/page.h"

#include <ntrace/decision.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Covered of all, by level: lines, branch outcomes, functions, decisions, MC/DC. */
enum { PAGE_LEVELS = 5, PAGE_LEVELS_OF_LINES = 3 };

struct page_part {
    uint64_t covered, all;
};

/* A source, and its number on the page. */
struct page_file {
    const char *name;
    size_t number, folder; /* size of the folder in the name, without the last slash */
    struct page_part parts[PAGE_LEVELS];
};

struct file_list {
    struct page_file *items;
    size_t count;
    unsigned levels;
};

static void read_parts(const struct cli_coverage_evidence *e, struct page_file *file) {
    ntr_cover_sums sums;
    ntr_decision_sums decisions;

    ntr_coverage_sums(e->data->coverage, file->name, &sums);
    file->parts[0] = (struct page_part){sums.lines_hit, sums.lines};
    file->parts[1] = (struct page_part){sums.branches_hit, sums.branches};
    file->parts[2] = (struct page_part){sums.functions_hit, sums.functions};
    for (int level = NTR_LEVEL_DECISION; e->data->decisions && level <= NTR_LEVEL_MCDC; level++) {
        ntr_decisions_sums(e->data->decisions, (ntr_decision_level)level, file->name, &decisions);
        file->parts[PAGE_LEVELS_OF_LINES + level - NTR_LEVEL_DECISION] =
            (struct page_part){decisions.decisions[NTR_COVER_COVERED],
                               decisions.decisions[NTR_COVER_COVERED] + decisions.decisions[NTR_COVER_NOT_COVERED] +
                                   decisions.decisions[NTR_COVER_NOT_DETERMINABLE]};
    }
}

static int by_folder(const void *a, const void *b) {
    const struct page_file *x = a, *y = b;
    const size_t size = x->folder < y->folder ? x->folder : y->folder;
    const int order = memcmp(x->name, y->name, size);

    if (order) return order;
    if (x->folder != y->folder) return x->folder < y->folder ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Lists the sources by folder. Returns an empty list when out of memory. */
static struct file_list list_files(const struct cli_coverage_evidence *e) {
    size_t count, number = 0;
    const ntr_cover_line *lines = ntr_coverage_lines(e->data->coverage, &count);
    struct file_list list = {.items = calloc(count + 1, sizeof *list.items),
                             .levels = e->data->decisions ? PAGE_LEVELS : PAGE_LEVELS_OF_LINES};

    if (!list.items) e->evidence->failed = true;
    for (size_t i = 0; list.items && i < count; i++) {
        if (i && strcmp(lines[i].file, lines[i - 1].file) == 0) continue;
        struct page_file *file = &list.items[list.count++];
        const char *slash = strrchr(lines[i].file, '/');
        *file = (struct page_file){
            .name = lines[i].file, .number = number++, .folder = slash ? (size_t)(slash - lines[i].file) : 0};
        read_parts(e, file);
    }
    if (list.count) qsort(list.items, list.count, sizeof *list.items, by_folder);
    return list;
}

static void write_parts(const struct page_part *parts, unsigned levels, struct cli_output *out) {
    for (unsigned i = 0; i < levels; i++) {
        const double share = parts[i].all ? 100.0 * (double)parts[i].covered / (double)parts[i].all : 0.0;
        if (parts[i].all)
            cli_output_print(out, "<td class=\"n\">%.2f %%</td><td class=\"n\">%" PRIu64 "/%" PRIu64 "</td>", share,
                             parts[i].covered, parts[i].all);
        else
            cli_output_text(out, "<td></td><td></td>");
    }
    cli_output_text(out, "</tr>\n");
}

static void begin_row(const struct page_part *parts, unsigned levels, struct cli_output *out) {
    bool full = true;

    for (unsigned i = 0; i < levels; i++) full &= parts[i].covered == parts[i].all;
    cli_output_text(out, full ? "<tr class=\"full\"><td>" : "<tr><td>");
}

static void write_head(const char *first, unsigned levels, struct cli_output *out) {
    cli_output_print(out,
                     "<table class=\"rows\"><thead><tr><th>%s</th><th colspan=\"2\">lines</th>"
                     "<th colspan=\"2\">branch outcomes</th><th colspan=\"2\">functions</th>%s</tr></thead>\n",
                     first,
                     levels == PAGE_LEVELS ? "<th colspan=\"2\">decisions</th><th colspan=\"2\">MC/DC</th>" : "");
}

static void write_folder_name(const struct page_file *file, struct cli_output *out) {
    if (file->folder)
        cli_output_xml_bytes(out, file->name, file->folder);
    else
        cli_output_text(out, "/");
}

/* Returns the number of files of a folder, from `first` on. */
static size_t folder_size(const struct file_list *list, size_t first) {
    size_t end = first + 1;

    while (end < list->count && list->items[end].folder == list->items[first].folder &&
           memcmp(list->items[end].name, list->items[first].name, list->items[first].folder) == 0)
        end++;
    return end - first;
}

static void write_folders(const struct file_list *list, struct cli_output *out) {
    size_t number = 0;

    cli_output_text(out, "<h3>Folders</h3>\n");
    write_head("folder", list->levels, out);
    for (size_t i = 0, size; i < list->count; i += size) {
        struct page_part sums[PAGE_LEVELS] = {{0}};
        size = folder_size(list, i);
        for (size_t k = i; k < i + size; k++)
            for (unsigned level = 0; level < list->levels; level++) {
                sums[level].covered += list->items[k].parts[level].covered;
                sums[level].all += list->items[k].parts[level].all;
            }
        begin_row(sums, list->levels, out);
        cli_output_print(out, "<a href=\"#d%zu\">", number++);
        write_folder_name(&list->items[i], out);
        cli_output_text(out, "</a></td>");
        write_parts(sums, list->levels, out);
    }
    cli_output_text(out, "</table>\n");
}

void cli_coverage_page_files(const struct cli_coverage_evidence *e, struct cli_output *out) {
    const struct file_list list = list_files(e);
    size_t number = 0;

    cli_output_text(out, "<h2 id=\"files\">Files</h2>\n");
    write_folders(&list, out);
    for (size_t i = 0, size; i < list.count; i += size) {
        size = folder_size(&list, i);
        cli_output_print(out, "<details open id=\"d%zu\"><summary>", number++);
        write_folder_name(&list.items[i], out);
        cli_output_text(out, "</summary>");
        write_head("file", list.levels, out);
        for (size_t k = i; k < i + size; k++) {
            const struct page_file *file = &list.items[k];
            begin_row(file->parts, list.levels, out);
            cli_output_print(out, "<a href=\"#f%zu\">", file->number);
            cli_output_xml(out, file->name + (file->folder || file->name[0] == '/' ? file->folder + 1 : 0));
            cli_output_text(out, "</a></td>");
            write_parts(file->parts, list.levels, out);
        }
        cli_output_text(out, "</table></details>\n");
    }
    free(list.items);
}

#include "text/rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LABEL_WIDTH 26
#define CELL_WIDTH  14

static void format_cell(const struct cli_cell *cell, char *text, size_t size) {
    if (cell->digits)
        snprintf(text, size, "%.*f", cell->digits, cell->real);
    else
        snprintf(text, size, "%" PRIu64, cell->value);
}

static void write_heading(struct cli_rows *rows, const struct cli_row *row) {
    cli_output_print(rows->out, "%s%-*s", rows->kind ? "\n" : "", LABEL_WIDTH, row->kind);
    for (const struct cli_cell *cell = row->cells; cell->name; cell++)
        cli_output_print(rows->out, " %*s", CELL_WIDTH, cell->name);
    cli_output_text(rows->out, "\n");
}

static void write_alone(struct cli_rows *rows, const struct cli_row *row) {
    char text[40];

    cli_output_print(rows->out, "%s%s %s\n", rows->kind ? "\n" : "", row->kind, row->label);
    for (const struct cli_cell *cell = row->cells; cell->name; cell++) {
        format_cell(cell, text, sizeof text);
        cli_output_print(rows->out, "  %-*s %*s\n", LABEL_WIDTH - 2, cell->name, CELL_WIDTH, text);
    }
}

static void write_text(struct cli_rows *rows, const struct cli_row *row) {
    char text[40];

    if (row->alone) {
        write_alone(rows, row);
        return;
    }
    if (!rows->kind || strcmp(rows->kind, row->kind) != 0) write_heading(rows, row);
    cli_output_print(rows->out, "  %-*s", LABEL_WIDTH - 2, row->label);
    for (const struct cli_cell *cell = row->cells; cell->name; cell++) {
        format_cell(cell, text, sizeof text);
        cli_output_print(rows->out, " %*s", CELL_WIDTH, text);
    }
    cli_output_text(rows->out, "\n");
}

/* Writes the name of a cell as a JSON key: blanks become underscores. */
static void write_key(struct cli_output *out, const char *name) {
    cli_output_text(out, ",\"");
    for (; *name; name++) cli_output_write(out, *name == ' ' ? "_" : name, 1);
    cli_output_text(out, "\":");
}

static void write_jsonl(struct cli_rows *rows, const struct cli_row *row) {
    char text[40];

    cli_output_print(rows->out, "{\"kind\":\"%s\",\"name\":", row->kind);
    cli_output_json(rows->out, row->label);
    for (const struct cli_cell *cell = row->cells; cell->name; cell++) {
        format_cell(cell, text, sizeof text);
        write_key(rows->out, cell->name);
        cli_output_text(rows->out, text);
    }
    cli_output_text(rows->out, "}\n");
}

void cli_row_write(struct cli_rows *rows, const struct cli_row *row) {
    (rows->format == CLI_FORMAT_JSONL ? write_jsonl : write_text)(rows, row);
    rows->kind = row->kind;
}

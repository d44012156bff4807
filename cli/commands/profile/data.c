/* profile --by data: loads and stores by the symbol that contains their address; without one, by page of 4 KiB. */
#include "commands/profile/output.h"
#include "io/document.h"
#include "io/output.h"
#include "options/diagnostics.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { DATA_ROWS = 40, DATA_PAGE_BITS = 12 };

typedef struct data_row {
    uint64_t address;     /* of the symbol or page */
    char *name;           /* of the symbol; NULL: there is none */
    bool known;           /* the address */
    uint64_t count[2];    /* loads, stores */
    uint64_t bytes[2];
    uint64_t order;       /* of entry */
} data_row;

struct data_profile {
    const ntr_program *program;
    data_row *rows; /* sorted by name and address while events are taken */
    size_t count, capacity;
    uint64_t total;
    size_t last; /* the row of the access before: accesses to one object follow each other */
};

/* ---- collecting */

static int by_key(const data_row *a, const data_row *b) {
    if (a->known != b->known) return a->known ? 1 : -1;
    if (a->address != b->address) return a->address < b->address ? -1 : 1;
    if (!a->name || !b->name) return (a->name != NULL) - (b->name != NULL);
    return strcmp(a->name, b->name);
}

/* Returns the first row that is not before `key`. */
static size_t place_of(const struct data_profile *p, const data_row *key) {
    size_t low = 0, high = p->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (by_key(&p->rows[middle], key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static data_row *insert(struct data_profile *p, size_t place, const data_row *key) {
    if (p->count == p->capacity) {
        const size_t capacity = p->capacity ? 2 * p->capacity : 256;
        data_row *grown = realloc(p->rows, capacity * sizeof *grown);
        if (!grown) return NULL;
        p->rows = grown;
        p->capacity = capacity;
    }
    char *name = key->name ? strdup(key->name) : NULL;
    if (key->name && !name) return NULL;
    memmove(&p->rows[place + 1], &p->rows[place], (p->count - place) * sizeof *p->rows);
    p->rows[place] = *key;
    p->rows[place].name = name;
    p->rows[place].order = p->count++;
    return &p->rows[place];
}

static data_row *row_of(struct data_profile *p, const ntr_event *e) {
    ntr_symbol symbol;
    data_row key = {.known = !(e->flags & NTR_EVENT_ADDRESS_UNKNOWN)};

    if (key.known) {
        const bool named =
            ntr_program_symbol(p->program, ntr_place_at(&e->context, e->offset, e->data_address), &symbol) == NTR_OK;
        key.address = named ? symbol.address : e->data_address >> DATA_PAGE_BITS << DATA_PAGE_BITS;
        key.name = named ? (char *)(uintptr_t)symbol.name : NULL;
    }
    if (p->last < p->count && by_key(&p->rows[p->last], &key) == 0) return &p->rows[p->last];
    p->last = place_of(p, &key);
    if (p->last < p->count && by_key(&p->rows[p->last], &key) == 0) return &p->rows[p->last];
    return insert(p, p->last, &key);
}

static ntr_status take_events(void *user, const ntr_event *events, size_t count) {
    struct data_profile *p = user;

    for (size_t i = 0; i < count; i++) {
        const ntr_event *e = &events[i];
        if (e->kind != NTR_EVENT_ACCESS) continue;
        data_row *r = row_of(p, e);
        if (!r) return NTR_E_MEMORY;
        const unsigned store = e->code == NTR_DATA_WRITE;
        r->count[store]++;
        r->bytes[store] += e->data_size;
        p->total++;
    }
    return NTR_OK;
}

/* ---- output */

static int by_count(const void *left, const void *right) {
    const data_row *a = left, *b = right;
    const uint64_t x = a->count[0] + a->count[1], y = b->count[0] + b->count[1];

    if (x != y) return x > y ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static void write_label(struct cli_output *out, const data_row *r) {
    if (r->name)
        cli_output_print(out, "%s", r->name);
    else if (r->known)
        cli_output_print(out, "0x%" PRIx64 "-0x%" PRIx64, r->address, r->address | ((1u << DATA_PAGE_BITS) - 1));
    else
        cli_output_text(out, "[unknown]");
}

static void write_text_row(struct cli_output *out, const struct data_profile *p, const data_row *r) {
    const double share = 100.0 * (double)(r->count[0] + r->count[1]) / (double)(p->total ? p->total : 1);

    cli_output_print(out, "%15" PRIu64 " %6.2f %% %12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %12" PRIu64 "  ",
                     r->count[0] + r->count[1], share, r->count[0], r->count[1], r->bytes[0], r->bytes[1]);
    write_label(out, r);
    cli_output_text(out, "\n");
}

static void write_json_row(struct cli_output *out, const data_row *r) {
    cli_output_print(
        out, "{\"loads\":%" PRIu64 ",\"stores\":%" PRIu64 ",\"bytes_loaded\":%" PRIu64 ",\"bytes_stored\":%" PRIu64,
        r->count[0], r->count[1], r->bytes[0], r->bytes[1]);
    if (r->known) cli_output_print(out, ",\"address\":\"0x%" PRIx64 "\"", r->address);
    if (r->name) cli_output_text(out, ",\"symbol\":");
    if (r->name) cli_output_json(out, r->name);
    cli_output_text(out, "}\n");
}

static void write_csv_row(struct cli_output *out, const data_row *r) {
    cli_output_print(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", r->count[0], r->count[1], r->bytes[0],
                     r->bytes[1]);
    if (r->known) cli_output_print(out, "0x%" PRIx64, r->address);
    cli_output_text(out, ",");
    cli_output_csv(out, r->name ? r->name : "");
    cli_output_text(out, "\n");
}

static void write_rows(struct cli_output *out, struct data_profile *p, enum cli_format format, int64_t top) {
    size_t rows = p->count;

    if (p->count) qsort(p->rows, p->count, sizeof *p->rows, by_count);
    if (top < 0 && format == CLI_FORMAT_TEXT) top = DATA_ROWS;
    if (top >= 0 && (uint64_t)top < rows) rows = (size_t)top;
    if (format == CLI_FORMAT_TEXT)
        cli_output_print(out, "# %" PRIu64 " loads and stores\n#%14s %8s %12s %12s %12s %12s  data\n", p->total,
                         "accesses", "", "loads", "stores", "bytes loaded", "bytes stored");
    if (format == CLI_FORMAT_CSV) cli_output_text(out, "loads,stores,bytes_loaded,bytes_stored,address,symbol\n");
    for (size_t i = 0; i < rows; i++) {
        if (format == CLI_FORMAT_TEXT)
            write_text_row(out, p, &p->rows[i]);
        else if (format == CLI_FORMAT_CSV)
            write_csv_row(out, &p->rows[i]);
        else
            write_json_row(out, &p->rows[i]);
    }
    if (format == CLI_FORMAT_TEXT && rows < p->count)
        cli_output_print(out, "# and %zu more rows (--top)\n", p->count - rows);
}

static int write_output(struct cli_analysis *a, struct data_profile *p, const struct cli_result *result, int64_t top,
                        int status) {
    struct cli_output out;

    if (cli_document_open(&out, result, "data") != CLI_OK) return CLI_FAILED;
    write_rows(&out, p, cli_format_of_rows(result->format), top);
    cli_analysis_end_document(a, &out);
    return cli_output_close(&out, status);
}

int cli_profile_data(const char *path, const struct cli_analysis_options *options, const struct cli_result *result,
                     int64_t top) {
    struct cli_analysis a;
    struct data_profile p = {0};
    int status = cli_analysis_open(&a, path, options);

    if (status == CLI_OK) {
        p.program = a.data.program;
        a.take_needs = NTR_TAKE_JOINED | NTR_TAKE_REPEATS;
        if (result->format == CLI_FORMAT_JSON) status = cli_analysis_rate(&a);
    }
    if (status == CLI_OK) {
        status = cli_analysis_run(&a, take_events, &p);
    }
    const bool shown = status != CLI_FAILED && !options->partial;
    if (shown && !p.total) {
        cli_note("%s: no loads and stores: the trace has no data messages (run --data, --dialect nexus-data or ctte)",
                 path);
        status = CLI_DEFECTS; /* nothing was measured */
    }
    if (shown) status = write_output(&a, &p, result, top, status);
    for (size_t i = 0; i < p.count; i++) free(p.rows[i].name);
    free(p.rows);
    cli_analysis_close(&a);
    return status;
}

/* All counts as tables of a SQLite file; docs/exports.md, "The SQLite file", has the schema and queries. */
#include "export/stacks.h"

#include "base/allocator.h"

#include <sqlite3.h>
#include <stdio.h>

static const char schema[] =
    "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA user_version=2; BEGIN;"
    "CREATE TABLE trace(title TEXT, instructions INTEGER, ticks_per_second INTEGER);"
    "CREATE TABLE functions(id INTEGER PRIMARY KEY, name TEXT, linkage TEXT, file TEXT, line INTEGER, image TEXT,"
    " address INTEGER, calls INTEGER, self INTEGER, total INTEGER, self_ticks INTEGER, total_ticks INTEGER);"
    "CREATE TABLE calls(caller INTEGER REFERENCES functions(id), callee INTEGER REFERENCES functions(id),"
    " site INTEGER, count INTEGER, inclusive INTEGER);"
    "CREATE TABLE edges(src INTEGER, address INTEGER, last INTEGER, target INTEGER, end TEXT, count INTEGER,"
    " instructions INTEGER, position INTEGER);"
    "CREATE TABLE instructions(address INTEGER, executed INTEGER, taken INTEGER, not_taken INTEGER,"
    " function INTEGER REFERENCES functions(id), file TEXT, line INTEGER, position INTEGER);"
    "CREATE TABLE gaps(src INTEGER, offset INTEGER, until INTEGER, message INTEGER, reason TEXT, from_address INTEGER,"
    " to_address INTEGER);"
    "CREATE TABLE accesses(src INTEGER, message INTEGER, offset INTEGER, time INTEGER, access TEXT, address INTEGER,"
    " size INTEGER, data INTEGER, symbol TEXT);"
    "CREATE TABLE watchpoints(src INTEGER, message INTEGER, offset INTEGER, time INTEGER, hits INTEGER);"
    "CREATE TABLE acquisitions(src INTEGER, message INTEGER, offset INTEGER, time INTEGER, tag INTEGER, value INTEGER);";

static const char closing[] =
    "CREATE VIEW lines AS SELECT file, line, SUM(executed) AS instructions, MAX(executed) AS executed"
    " FROM instructions WHERE file IS NOT NULL GROUP BY file, line;"
    "CREATE INDEX functions_name ON functions(name); CREATE INDEX calls_caller ON calls(caller);"
    "CREATE INDEX calls_callee ON calls(callee); CREATE INDEX edges_last ON edges(last);"
    "CREATE INDEX edges_target ON edges(target); CREATE INDEX instructions_address ON instructions(address); CREATE INDEX instructions_place ON instructions(file, line);"
    "COMMIT;";

typedef struct database {
    sqlite3 *handle;
    sqlite3_stmt *gaps, *accesses, *watchpoints, *acquisitions;
    ntr_export *export_;
    bool failed;
} database;

/* Records the first error, and what SQLite says about it. */
static void fail(database *db) {
    if (!db->failed) snprintf(db->export_->error, sizeof db->export_->error, "SQLite: %s", sqlite3_errmsg(db->handle));
    db->failed = true;
}

/* ---- values of a prepared row ------------------------------------------------------------------ */

typedef struct sqlite_row {
    database *db;
    sqlite3_stmt *statement;
    int column;
} sqlite_row;

static sqlite3_stmt *prepare(database *db, const char *sql) {
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(db->handle, sql, -1, &statement, NULL) != SQLITE_OK) fail(db);
    return statement;
}

/* Integers of SQLite are signed. Addresses of the upper half are stored as negative numbers with the same bits. */
static void put(sqlite_row *r, uint64_t value) {
    if (sqlite3_bind_int64(r->statement, ++r->column, (sqlite3_int64)value) != SQLITE_OK) fail(r->db);
}

/* SQLite copies the text. When that fails, the column would be empty and the row would still be written; the error is
 * therefore recorded. */
static void put_text(sqlite_row *r, const char *text) {
    int status = text ? sqlite3_bind_text(r->statement, ++r->column, text, -1, SQLITE_TRANSIENT)
                      : sqlite3_bind_null(r->statement, ++r->column);
    if (status != SQLITE_OK) fail(r->db);
}

static void put_row(sqlite_row *r) {
    if (sqlite3_step(r->statement) != SQLITE_DONE) fail(r->db);
    sqlite3_reset(r->statement);
    r->column = 0;
}

/* ---- tables ------------------------------------------------------------------------------------ */

static ntr_status write_functions(ntr_export *x, database *db) {
    size_t count = 0;
    while (ntr_functions_get(x->analysis.functions, (uint32_t)count)) count++;
    ntr_call_sum *sums = ntr_alloc(x->allocator, count, sizeof *sums);
    if (!sums) return NTR_E_MEMORY;
    ntr_calltree_sums(x->analysis.tree, sums, count);
    sqlite_row r = {db, prepare(db, "INSERT INTO functions VALUES(?,?,?,?,?,?,?,?,?,?,?,?)"), 0};
    for (size_t i = 0; i < count && !db->failed; i++) {
        const ntr_function *f = ntr_functions_get(x->analysis.functions, (uint32_t)i);
        put(&r, i);
        put_text(&r, f->name);
        put_text(&r, f->linkage);
        put_text(&r, f->file);
        put(&r, f->line);
        put_text(&r, f->image);
        put(&r, f->low);
        put(&r, sums[i].calls);
        put(&r, sums[i].self_instructions);
        put(&r, sums[i].total_instructions);
        put(&r, sums[i].self_ticks);
        put(&r, sums[i].total_ticks);
        put_row(&r);
    }
    sqlite3_finalize(r.statement);
    ntr_dealloc(x->allocator, sums);
    return NTR_OK;
}

static ntr_status write_calls(ntr_export *x, database *db) {
    ntr_arcs arcs;
    ntr_status status = ntr_arcs_make(&arcs, x);
    if (status) return status;
    sqlite_row r = {db, prepare(db, "INSERT INTO calls VALUES(?,?,?,?,?)"), 0};
    for (size_t i = 0; i < arcs.count && !db->failed; i++) {
        if (arcs.items[i].caller == UINT32_MAX) continue;
        put(&r, arcs.items[i].caller);
        put(&r, arcs.items[i].callee);
        put(&r, arcs.items[i].site);
        put(&r, arcs.items[i].calls);
        put(&r, arcs.items[i].inclusive);
        put_row(&r);
    }
    sqlite3_finalize(r.statement);
    ntr_arcs_release(&arcs);
    return NTR_OK;
}

static void write_edges(ntr_export *x, database *db) {
    size_t count;
    const ntr_tally_row *rows = ntr_tally_rows(x->analysis.tally, &count);
    sqlite_row r = {db, prepare(db, "INSERT INTO edges VALUES(?,?,?,?,?,?,?,?)"), 0};
    for (size_t i = 0; i < count && !db->failed; i++) {
        put(&r, ntr_tally_view(x->analysis.tally, rows[i].view)->src);
        put(&r, rows[i].address);
        put(&r, rows[i].last);
        if (rows[i].target_unknown)
            put_text(&r, NULL);
        else
            put(&r, rows[i].target);
        put_text(&r, ntr_span_end_name(rows[i].end));
        put(&r, rows[i].count);
        put(&r, rows[i].instructions);
        put(&r, rows[i].position);
        put_row(&r);
    }
    sqlite3_finalize(r.statement);
}

static ntr_status write_instructions(ntr_export *x, database *db) {
    ntr_insn_count *counts;
    size_t count;
    ntr_status status = ntr_tally_instructions(x->analysis.tally, x->analysis.program, UINT32_MAX, &counts, &count);
    if (status) return status;
    sqlite_row r = {db, prepare(db, "INSERT INTO instructions VALUES(?,?,?,?,?,?,?,?)"), 0};
    for (size_t i = 0; i < count && !db->failed; i++) {
        ntr_frame frames[NTR_FRAMES_MAX];
        const ntr_place place = ntr_tally_count_place(x->analysis.tally, &counts[i]);
        size_t depth = ntr_debug_info_frames(x->analysis.debug, place, frames, NTR_FRAMES_MAX);
        put(&r, counts[i].address);
        put(&r, counts[i].executed);
        put(&r, counts[i].taken);
        put(&r, counts[i].not_taken);
        put(&r, ntr_functions_at(x->analysis.functions, place));
        put_text(&r, depth ? frames[0].file : NULL);
        put(&r, depth ? frames[0].line : 0);
        put(&r, counts[i].position);
        put_row(&r);
    }
    sqlite3_finalize(r.statement);
    ntr_tally_free_counts(x->analysis.tally, counts);
    return NTR_OK;
}

static void write_trace(ntr_export *x, database *db) {
    size_t count;
    const ntr_call_node *nodes = ntr_calltree_nodes(x->analysis.tree, &count);
    sqlite_row r = {db, prepare(db, "INSERT INTO trace VALUES(?,?,?)"), 0};
    put_text(&r, x->analysis.title);
    put(&r, nodes[0].total_instructions);
    put(&r, x->analysis.ticks_per_second);
    put_row(&r);
    sqlite3_finalize(r.statement);
}

/* ---- begin and end ----------------------------------------------------------------------------- */

static ntr_status begin(ntr_export *x) {
    database *db = x->state;
    db->export_ = x;
    remove(x->path);
    if (sqlite3_open(x->path, &db->handle) != SQLITE_OK ||
        sqlite3_exec(db->handle, schema, NULL, NULL, NULL) != SQLITE_OK) {
        fail(db);
        return NTR_E_IO;
    }
    db->gaps = prepare(db, "INSERT INTO gaps VALUES(?,?,?,?,?,?,?)");
    db->accesses = prepare(db, "INSERT INTO accesses VALUES(?,?,?,?,?,?,?,?,?)");
    db->watchpoints = prepare(db, "INSERT INTO watchpoints VALUES(?,?,?,?,?)");
    db->acquisitions = prepare(db, "INSERT INTO acquisitions VALUES(?,?,?,?,?,?)");
    return db->failed ? NTR_E_IO : NTR_OK;
}

static void put_gap(database *db, const ntr_event *e) {
    sqlite_row r = {db, db->gaps, 0};

    put(&r, e->src);
    put(&r, e->offset);
    put(&r, e->gap.until);
    put(&r, e->message);
    put_text(&r, ntr_status_text((ntr_status)e->reason));
    put(&r, e->gap.from_known ? e->gap.from_address : 0);
    put(&r, e->gap.to_known ? e->gap.to_address : 0);
    put_row(&r);
}

static void put_null(sqlite_row *r) {
    put_text(r, NULL);
}

/* Source, place and time of a data event. */
static sqlite_row begin_data(database *db, sqlite3_stmt *statement, const ntr_event *e) {
    sqlite_row r = {db, statement, 0};

    put(&r, e->src);
    put(&r, e->message);
    put(&r, e->offset);
    if (e->flags & NTR_EVENT_TIME)
        put(&r, e->time);
    else
        put_null(&r);
    return r;
}

static void put_access(const ntr_export *x, database *db, const ntr_event *e) {
    sqlite_row r = begin_data(db, db->accesses, e);
    bool known = !(e->flags & NTR_EVENT_ADDRESS_UNKNOWN);
    ntr_symbol symbol;

    put_text(&r, ntr_data_access_name(e->code));
    if (known)
        put(&r, e->data_address);
    else
        put_null(&r);
    put(&r, e->data_size);
    put(&r, e->data);
    known = known && ntr_program_symbol(x->analysis.program, ntr_place_at(&e->context, e->offset, e->data_address),
                                        &symbol) == NTR_OK;
    put_text(&r, known ? symbol.name : NULL);
    put_row(&r);
}

static void put_watchpoint(database *db, const ntr_event *e) {
    sqlite_row r = begin_data(db, db->watchpoints, e);

    put(&r, e->data);
    put_row(&r);
}

static void put_acquisition(database *db, const ntr_event *e) {
    sqlite_row r = begin_data(db, db->acquisitions, e);

    put(&r, e->tag);
    put(&r, e->data);
    put_row(&r);
}

static ntr_status events(ntr_export *x, const ntr_event *list, size_t count) {
    database *db = x->state;

    for (size_t i = 0; i < count; i++) {
        if (list[i].kind == NTR_EVENT_GAP) put_gap(db, &list[i]);
        if (list[i].kind == NTR_EVENT_ACCESS) put_access(x, db, &list[i]);
        if (list[i].kind == NTR_EVENT_WATCHPOINT) put_watchpoint(db, &list[i]);
        if (list[i].kind == NTR_EVENT_DATA) put_acquisition(db, &list[i]);
    }
    return db->failed ? NTR_E_IO : NTR_OK;
}

static ntr_status end(ntr_export *x) {
    database *db = x->state;
    write_trace(x, db);
    write_edges(x, db);
    ntr_status status = write_instructions(x, db);
    if (!status) status = write_functions(x, db); /* last, because the other tables may number functions */
    if (!status) status = write_calls(x, db);
    if (!status && !db->failed && sqlite3_exec(db->handle, closing, NULL, NULL, NULL) != SQLITE_OK) fail(db);
    return db->failed ? NTR_E_IO : status;
}

static void release(ntr_export *x) {
    database *db = x->state;
    sqlite3_finalize(db->gaps);
    sqlite3_finalize(db->accesses);
    sqlite3_finalize(db->watchpoints);
    sqlite3_finalize(db->acquisitions);
    sqlite3_close(db->handle);
}

const ntr_exporter ntr_exporter_sqlite = {
    .name = "sqlite",
    .family = "export",
    .summary = "SQLite file: functions, calls, edges, instructions, lines, gaps, data",
    .aliases = {"db", "sqlite3"},
    .needs = NTR_NEEDS_TALLY | NTR_NEEDS_TREE | NTR_NEEDS_EVENTS | NTR_NEEDS_FILE,
    .state_size = sizeof(database),
    .begin = begin,
    .events = events,
    .end = end,
    .release = release,
};

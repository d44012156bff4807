#include "decision/builder.h"

#include "base/allocator.h"
#include "base/macros.h"
#include "decision/arguments.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* The name that debug information has for the file is shown, so that all results name files in the same way. */
static void name_file(ntr_map_builder *b, const char *path, const char *name) {
    const ntr_decisions *d = b->decisions;
    const char *kept = ntr_texts_keep(&b->decisions->texts, name);
    for (size_t i = 0; kept && i < d->count; i++)
        if (d->records[i]->path == path && d->records[i]->shown.file == path) d->records[i]->shown.file = kept;
}

static const ntr_extent_file *file_of(ntr_map_builder *b, const char *name) {
    if (name == b->last_name) return b->last_file;
    const char *path = ntr_path_find(&b->decisions->texts, b->options->source_path, name);
    b->last_name = name;
    b->last_relative = NULL;
    b->last_file = path ? ntr_extents_file(&b->extents, path) : NULL;
    if (b->last_file) name_file(b, path, name);
    return b->last_file;
}

/* The same for a name that may be relative to the folder of compilation. */
static const ntr_extent_file *file_in(ntr_map_builder *b, const char *directory, const char *name) {
    char path[PATH_MAX];
    if (name[0] == '/' || !directory || directory[0] != '/') return file_of(b, name);
    if (name == b->last_relative) return b->last_file;
    int size = snprintf(path, sizeof path, "%s/%s", directory, name);
    const char *kept = size > 0 && (size_t)size < sizeof path ? ntr_texts_keep(&b->decisions->texts, path) : NULL;
    const ntr_extent_file *file = kept ? file_of(b, kept) : NULL;
    b->last_relative = name;
    return file;
}

/* Returns what distinguishes the copies of an inlined function: its entry and the places of the calls; 0: it is not
 * inlined. */
static uint64_t scope_of(const ntr_frame *frames, size_t count) {
    uint64_t scope = frames[0].inlined ? frames[0].entry : 0;
    for (size_t i = 1; frames[0].inlined && i < count; i++)
        scope = scope * 31 + (uint64_t)frames[i].line * 1000 + frames[i].column;
    return scope;
}

static ntr_status add_code(ntr_map_builder *b, uint64_t address, uint32_t record, const ntr_frame *frames,
                           size_t count) {
    const ntr_frame *function = &frames[count - 1];
    const ntr_found_code code = {address,
                                 function->entry,
                                 function->entry + function->size,
                                 scope_of(frames, count),
                                 record,
                                 frames[0].inlined_somewhere};
    const ntr_found_code *last = b->code_count ? &b->codes[b->code_count - 1] : NULL;
    if (last && last->low == code.low && last->scope == code.scope && last->record == code.record) return NTR_OK;
    if (ntr_reserve(b->map->allocator, (void **)&b->codes, &b->code_capacity, b->code_count + 1, sizeof *b->codes))
        return NTR_E_MEMORY;
    b->codes[b->code_count++] = code;
    return NTR_OK;
}

/* Returns whether the decisions of a function, or of a copy of it, were added shortly before. Else it is noted. */
static bool was_added(ntr_map_builder *b, uint64_t scope) {
    enum { SCOPES = sizeof b->scopes / sizeof b->scopes[0] };
    for (unsigned i = 0; i < SCOPES; i++)
        if (b->scopes[i] == scope) return true;
    b->scopes[b->scope_count++ % SCOPES] = scope;
    return false;
}

/* Returns what a file that is included several times has in the function of the frame, or NULL. */
static const ntr_extent_file *part_in(ntr_map_builder *b, const ntr_extent_file *file, const ntr_frame *frame) {
    const char *group = frame->function ? ntr_decisions_group(b->decisions, file->path, frame->function) : NULL;
    return group ? ntr_extents_file(&b->extents, group) : NULL;
}

/* The same for the function around an address. */
static const ntr_extent_file *part_at(ntr_map_builder *b, const ntr_extent_file *file, uint64_t address) {
    ntr_frame frames[NTR_FRAMES_MAX];
    return ntr_debug_info_frames(b->debug, ntr_code_map_place(b->map, address), frames, NTR_FRAMES_MAX)
               ? part_in(b, file, frames)
               : NULL;
}

static bool is_call_operator(const char *name) {
    return name && strstr(name, "operator()") != NULL;
}

/* Returns whether a decision is that of the function of a frame, which begins in the same line. A lambda may be on one
 * line with the function around it; it has no name in the source. */
static bool is_in_function(const ntr_decision_record *record, const ntr_frame *frame) {
    const char *name = record->shown.function;
    if (record->function_line != frame->declared_line) return false;
    return is_call_operator(frame->function) == (!name || !*name || is_call_operator(name));
}

/* Adds the decisions of a function, or of an inlined copy. It may have no code of a decision of which the compiler
 * knows the result. */
static ntr_status add_decisions(ntr_map_builder *b, uint64_t address, const ntr_frame *frames, size_t count) {
    const ntr_decisions *d = b->decisions;
    if (was_added(b, frames[count - 1].entry + scope_of(frames, count) * 31)) return NTR_OK;
    const ntr_extent_file *file = frames[0].declared_in ? file_of(b, frames[0].declared_in) : NULL;
    if (file && file->divided) file = part_in(b, file, &frames[0]);
    for (size_t i = 0; file && i < d->count; i++)
        if (d->records[i]->group == file->path && is_in_function(d->records[i], &frames[0]))
            TRY(add_code(b, address, (uint32_t)i, frames, count));
    return NTR_OK;
}

/* Adds the decisions of all functions around an address. */
static ntr_status add_all_decisions(ntr_map_builder *b, uint64_t address) {
    ntr_frame frames[NTR_FRAMES_MAX];
    const size_t count = ntr_debug_info_frames(b->debug, ntr_code_map_place(b->map, address), frames, NTR_FRAMES_MAX);
    if (count == 0 || !frames[count - 1].size) return NTR_OK;
    for (size_t i = 0; i < count; i++) TRY(add_decisions(b, address, frames + i, count - i));
    return NTR_OK;
}

/* Adds code of a decision. */
static ntr_status add_own_code(ntr_map_builder *b, uint64_t address, const ntr_extent_entry *entry) {
    ntr_frame frames[NTR_FRAMES_MAX];
    const size_t count = ntr_debug_info_frames(b->debug, ntr_code_map_place(b->map, address), frames, NTR_FRAMES_MAX);
    if (count == 0 || !frames[count - 1].size || entry->whole) return NTR_OK;
    return add_code(b, address, entry->record, frames, count);
}

static ntr_status add_branch(ntr_map_builder *b, uint64_t address, const ntr_line_row *row,
                             const ntr_extent_entry *entry) {
    ntr_frame frames[NTR_FRAMES_MAX];
    size_t count = ntr_debug_info_frames(b->debug, ntr_code_map_place(b->map, address), frames, NTR_FRAMES_MAX);
    if (count == 0 || !frames[count - 1].size) return NTR_OK;
    const ntr_frame *function = &frames[count - 1];
    if (ntr_reserve(b->map->allocator, (void **)&b->found, &b->found_capacity, b->found_count + 1, sizeof *b->found))
        return NTR_E_MEMORY;
    b->found[b->found_count++] = (ntr_found_branch){
        .address = address,
        .low = function->entry,
        .high = function->entry + function->size,
        .scope = scope_of(frames, count),
        .record = entry->record,
        .whole = ntr_extents_root(&b->extents, entry, true),
        .root = ntr_extents_root(&b->extents, entry, false),
        .outside = entry->whole,
        .inlined = frames[0].inlined_somewhere,
        .line = row->line,
        .column = row->column,
    };
    return NTR_OK;
}

/* Returns the entry of the decision itself instead of that of its further place. */
static const ntr_extent_entry *own_entry(const ntr_map_builder *b, const ntr_extent_file *file,
                                         const ntr_decision_record *r, const ntr_extent_entry *point) {
    const ntr_extent_entry *entry = ntr_extents_at(&b->extents, file, r->extent.line, r->extent.column);
    while (entry && !ntr_extent_equal(&entry->extent, &r->extent))
        entry = entry->parent ? &b->extents.items[entry->parent - 1] : NULL;
    return entry ? entry : point;
}

/* Returns the entry of a row, or NULL. gcc has no code of a loop at the end of its body. */
static const ntr_extent_entry *entry_of(const ntr_map_builder *b, const ntr_extent_file *file,
                                        const ntr_line_row *row) {
    const ntr_extent_entry *entry = ntr_extents_at(&b->extents, file, row->line, row->column);
    if (!entry) return NULL;
    const ntr_decision_record *r = b->decisions->records[entry->record];
    if (ntr_extent_equal(&entry->extent, &r->point)) return own_entry(b, file, r, entry);
    if (!ntr_extent_equal(&entry->extent, &r->body_end)) return entry;
    if (!ntr_code_ranges_at(&b->map->ranges, row->address).gnu) return own_entry(b, file, r, entry);
    return entry->parent ? &b->extents.items[entry->parent - 1] : NULL;
}

static ntr_status add_call(ntr_map_builder *b, uint64_t address, uint32_t id) {
    ntr_code_map *m = b->map;
    ntr_frame frames[NTR_FRAMES_MAX];
    if (ntr_debug_info_frames(b->debug, ntr_code_map_place(b->map, address), frames, NTR_FRAMES_MAX) != 1)
        return NTR_OK; /* inlined code */
    if (ntr_reserve(m->allocator, (void **)&m->calls, &m->call_capacity, m->call_count + 1, sizeof *m->calls))
        return NTR_E_MEMORY;
    m->calls[m->call_count++] = (ntr_counted_call){.address = address, .id = id};
    return NTR_OK;
}

/* Takes the calls of a row. */
static ntr_status take_calls(ntr_map_builder *b, const ntr_line_row *row, const char *path) {
    ntr_insn insn;
    const ntr_call_site *call = ntr_decisions_call_at(b->decisions, path, row->line, row->column);
    for (uint64_t at = row->address; call && at - row->address < row->size; at += insn.size) {
        if (ntr_program_insn(b->map->program, ntr_code_map_place(b->map, at), &insn) != NTR_OK) break;
        if (insn.flow == NTR_FLOW_DIRECT_CALL || insn.flow == NTR_FLOW_INDIRECT_CALL) TRY(add_call(b, at, call->id));
    }
    return NTR_OK;
}

static ntr_status take_row(ntr_map_builder *b, const ntr_line_row *row) {
    ntr_insn insn;
    const ntr_extent_file *file = row->line && row->file ? file_of(b, row->file) : NULL;
    if (file) TRY(take_calls(b, row, file->path));
    if (file && !ntr_code_ranges_at(&b->map->ranges, row->address).unoptimized) TRY(add_all_decisions(b, row->address));
    if (file && file->divided) file = part_at(b, file, row->address);
    const ntr_extent_entry *entry = file ? entry_of(b, file, row) : NULL;
    if (!entry) return NTR_OK;
    TRY(add_own_code(b, row->address, entry));
    for (uint64_t at = row->address; at - row->address < row->size; at += insn.size) {
        if (ntr_program_insn(b->map->program, ntr_code_map_place(b->map, at), &insn) != NTR_OK) break;
        if (insn.flow == NTR_FLOW_BRANCH) TRY(add_branch(b, at, row, entry));
    }
    return NTR_OK;
}

/* Is the code at an address of the map that of image `k`? */
static bool belongs(const ntr_code_map *map, size_t k, uint64_t address) {
    size_t found;
    if (ntr_code_map_image(map, address) != &map->images[k]) return false;
    return ntr_program_image_at(map->program, ntr_code_map_place(map, address), &found) != NTR_OK ||
           map->first_image[found] == map->images[k].number;
}

static ntr_status take_rows(ntr_map_builder *b, ntr_debug_info *debug) {
    const ntr_line_row *rows;
    size_t count;
    for (size_t k = 0; k < b->map->image_count; k++) {
        TRY(ntr_debug_info_lines(debug, b->map->images[k].number, &rows, &count));
        for (size_t i = 0; i < count; i++)
            if (belongs(b->map, k, rows[i].address)) TRY(take_row(b, &rows[i]));
    }
    return NTR_OK;
}

/* Takes the places in files with decisions. */
static ntr_status take_statements(void *user, const ntr_debug_unit *unit) {
    ntr_map_builder *b = user;
    for (size_t i = 0; i < unit->statement_count; i++) {
        const ntr_debug_statement *s = &unit->statements[i];
        const ntr_extent_file *file = s->file ? file_in(b, unit->directory, s->file) : NULL;
        if (!file || !belongs(b->map, b->image, s->address + unit->bias)) continue;
        const ntr_statement statement = {s->address + unit->bias, file->path, s->line, s->column};
        TRY(ntr_statements_add(&b->statements, &statement));
    }
    return NTR_OK;
}

static ntr_status find_statements(ntr_map_builder *b) {
    for (b->image = 0; b->image < b->map->image_count; b->image++)
        TRY(ntr_debug_info_units(b->debug, b->map->images[b->image].number, take_statements, b));
    ntr_statements_sort(&b->statements);
    return NTR_OK;
}

ntr_status ntr_builder_find(ntr_map_builder *b) {
    TRY(take_rows(b, b->debug));
    return find_statements(b);
}

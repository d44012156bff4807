#include "decision/sources.h"

#include "base/allocator.h"
#include "base/macros.h"
#include "decision/arguments.h"
#include "decision/includes.h"
#include "decision/parse.h"
#include "program/program.h"

#include <limits.h>
#include <ntrace/coverage.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct source_walk {
    ntr_decisions *decisions;
    const ntr_source_options *options;
    ntr_code_ranges *ranges;
    json_t *commands;
    ntr_parser *parser;
    unsigned xlen;
    uint64_t most; /* bytes of a source */
    bool known; /* decisions of a unit are known */
} source_walk;

static bool is_parsed(unsigned language) {
    switch (language) {
    case NTR_LANGUAGE_C89:
    case NTR_LANGUAGE_C:
    case NTR_LANGUAGE_C99:
    case NTR_LANGUAGE_C11:
    case NTR_LANGUAGE_C17: return true;
    default: return ntr_language_is_cpp(language);
    }
}

static ntr_status add_ranges(source_walk *w, const ntr_debug_unit *unit, ntr_code_kind kind) {
    ntr_code_ranges *r = w->ranges;
    if (ntr_reserve(w->decisions->allocator, (void **)&r->items, &r->capacity, r->count + unit->range_count + 1,
                    sizeof *r->items))
        return NTR_E_MEMORY;
    for (size_t i = 0; i < unit->range_count; i++)
        r->items[r->count++] = (ntr_code_range_kind){unit->ranges[i][0], unit->ranges[i][1], kind};
    return NTR_OK;
}

/* Returns NTR_END when it was noted before. */
static ntr_status add_unparsed(ntr_decisions *d, const char *file, const char *why) {
    char text[500];
    snprintf(text, sizeof text, "%.200s: %.290s", file, why);
    for (size_t i = 0; i < d->unparsed_count; i++)
        if (strcmp(d->unparsed[i], text) == 0) return NTR_END;
    if (ntr_reserve(d->allocator, (void **)&d->unparsed, &d->unparsed_capacity, d->unparsed_count + 1, sizeof(char *)))
        return NTR_E_MEMORY;
    char *copy = ntr_alloc(d->allocator, strlen(text) + 1, 1);
    if (!copy) return NTR_E_MEMORY;
    memcpy(copy, text, strlen(text) + 1);
    d->unparsed[d->unparsed_count++] = copy;
    return NTR_OK;
}

ntr_status ntr_sources_leave_out(ntr_decisions *d, const char *file, const char *why) {
    const ntr_status status = add_unparsed(d, file, why);
    d->failed += status == NTR_OK;
    return status == NTR_END ? NTR_OK : status;
}

static ntr_status load_parser(source_walk *w) {
    ntr_decisions *d = w->decisions;
    if (w->parser) return NTR_OK;
    w->parser = ntr_parser_new(d->allocator);
    if (!w->parser) {
#ifdef HAVE_LIBCLANG
        snprintf(d->error, sizeof d->error,
                 "decisions are found with libclang, and no libclang 17 or newer is installed (Debian: libclang1-19)");
#else
        snprintf(d->error, sizeof d->error, "decisions are found with libclang, and this ntrace was built without it");
#endif
        return NTR_E_UNSUPPORTED;
    }
    ntr_parser_version(w->parser, d->parser, sizeof d->parser);
    return NTR_OK;
}

static bool known_unit(ntr_decisions *d, const char *path) {
    for (size_t i = 0; i < d->unit_count; i++)
        if (d->units[i] == path) return true;
    return false;
}

static ntr_status parse_unit(source_walk *w, const char *path, const ntr_arguments *arguments) {
    ntr_decisions *d = w->decisions;
    char why[300] = "";
    TRY(load_parser(w));
    const ntr_parse_unit unit = {
        path, arguments->items, arguments->count, w->options->only, w->options->only_count, w->options->guard};
    ntr_status status = NTR_OK;
    if (arguments->refused) {
        snprintf(why, sizeof why, "its recorded options include %.150s; --source-path allows that", arguments->refused);
        status = NTR_E_FORMAT;
    }
    if (!status)
        status = ntr_includes_check(path, arguments->items, arguments->count, w->most, d->allocator, why, sizeof why);
    if (!status) status = ntr_parser_parse(w->parser, d, &unit, why, sizeof why);
    if (status == NTR_E_IO) {
        snprintf(why, sizeof why, "the source is not here; --source-path gives its folder");
        status = add_unparsed(d, path, why);
        if (status == NTR_END) status = NTR_OK;
    } else if (status == NTR_E_FORMAT) {
        status = ntr_sources_leave_out(d, path, why);
    }
    if (!status &&
        ntr_reserve(d->allocator, (void **)&d->units, &d->unit_capacity, d->unit_count + 1, sizeof *d->units))
        status = NTR_E_MEMORY;
    if (!status) d->units[d->unit_count++] = path;
    return status;
}

/* Without -grecord-command-line, clang does not record its options in debug information. */
static ntr_code_kind kind_of(const ntr_arguments *arguments, const char *producer) {
    ntr_code_kind kind = {.gnu = producer && strncmp(producer, "GNU ", 4) == 0,
                          .unoptimized = arguments->unoptimized,
                          .debug = arguments->debug};
    kind.keeps_paths = kind.gnu && ntr_producer_keeps_paths(producer);
    if (arguments->has_level) return kind;
    kind.unknown = !kind.gnu;
    ntr_producer_level(kind.gnu ? producer : NULL, &kind.unoptimized, &kind.debug);
    return kind;
}

/* Stores the path of the source of a unit, or NULL if it is not parsed or not selected. Errors: NTR_E_MEMORY. */
static ntr_status find_source(ntr_decisions *d, const ntr_source_options *options, const ntr_debug_unit *unit,
                              const char **path) {
    char name[PATH_MAX];
    *path = NULL;
    if (!unit->name || !is_parsed(unit->language)) return NTR_OK;
    bool whole = unit->name[0] == '/' || !unit->directory;
    snprintf(name, sizeof name, "%s%s%s", whole ? "" : unit->directory, whole ? "" : "/", unit->name);
    *path = ntr_path_find(&d->texts, options->source_path, name);
    if (!*path) return NTR_E_MEMORY;
    if (!ntr_path_selected(*path, options->only, options->only_count)) *path = NULL;
    return NTR_OK;
}

static ntr_status visit_unit(void *user, const ntr_debug_unit *unit) {
    source_walk *w = user;
    ntr_decisions *d = w->decisions;
    const char *path;
    TRY(find_source(d, w->options, unit, &path));
    if (!path) return NTR_OK;
    ntr_arguments arguments = {.allocator = d->allocator, .texts = &d->texts};
    ntr_status status = ntr_arguments_make(&arguments, w->commands, w->options, unit, w->xlen, path);
    if (!status) status = add_ranges(w, unit, kind_of(&arguments, unit->producer));
    if (!status && !known_unit(d, path)) status = parse_unit(w, path, &arguments);
    ntr_arguments_release(&arguments);
    return status;
}

static ntr_status find_known(void *user, const ntr_debug_unit *unit) {
    source_walk *w = user;
    const char *path;
    TRY(find_source(w->decisions, w->options, unit, &path));
    for (size_t i = 0; path && !w->known && i < w->decisions->count; i++)
        w->known = w->decisions->records[i]->path == path;
    return NTR_OK;
}

bool ntr_sources_known(ntr_decisions *d, const ntr_source_options *options, ntr_debug_info *debug, size_t index) {
    source_walk w = {.decisions = d, .options = options};
    ntr_debug_info_units(debug, index, find_known, &w);
    return w.known;
}

static int compare_ranges(const void *a, const void *b) {
    const ntr_code_range_kind *x = a, *y = b;
    NTR_COMPARE_BY(low);
    NTR_COMPARE_BY(high);
    return 0;
}

ntr_status ntr_sources_parse(ntr_decisions *d, const ntr_source_options *options, const ntr_program *program,
                             ntr_debug_info *debug, ntr_code_ranges *ranges) {
    source_walk w = {.decisions = d,
                     .options = options,
                     .ranges = ranges,
                     .xlen = ntr_program_xlen(program),
                     .most = ntr_limits_get(&program->limits, NTR_LIMIT_SOURCE)};
    ntr_status status = NTR_OK;
    if (options->compile_commands)
        status =
            ntr_commands_load(&w.commands, options->compile_commands,
                              ntr_limits_get(&program->limits, NTR_LIMIT_COMPILE_COMMANDS), d->error, sizeof d->error);
    for (size_t i = 0; status == NTR_OK; i++) status = ntr_debug_info_units(debug, i, visit_unit, &w);
    ntr_parser_free(w.parser);
    json_decref(w.commands);
    if (ranges->count) qsort(ranges->items, ranges->count, sizeof *ranges->items, compare_ranges);
    return status == NTR_END ? NTR_OK : status;
}

ntr_code_kind ntr_code_ranges_at(const ntr_code_ranges *ranges, uint64_t address) {
    size_t low = 0, high = ranges->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ranges->items[middle].low <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low && address < ranges->items[low - 1].high ? ranges->items[low - 1].kind
                                                        : (ntr_code_kind){.unoptimized = false};
}

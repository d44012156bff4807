#include "decision/parse.h"

#include "base/allocator.h"
#include "decision/walk.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { CLANG_STACK = 8 << 20 };

struct ntr_parser {
    const ntr_allocator *allocator;
    ntr_libclang clang;
};

ntr_parser *ntr_parser_new(const ntr_allocator *allocator) {
    ntr_parser *p = ntr_alloc(allocator, 1, sizeof *p);
    if (!p) return NULL;
    p->allocator = allocator;
    if (ntr_libclang_load(&p->clang)) return p;
    ntr_dealloc(allocator, p);
    return NULL;
}

void ntr_parser_free(ntr_parser *p) {
    if (!p) return;
    ntr_libclang_unload(&p->clang);
    ntr_dealloc(p->allocator, p);
}

void ntr_parser_version(ntr_parser *p, char *text, size_t size) {
    CXString version = p->clang.getClangVersion();
    snprintf(text, size, "%s", p->clang.getCString(version));
    p->clang.disposeString(version);
}

/* Declarations of system headers are not visited. */
static void walk_unit(ntr_unit_walk *w, CXCursor unit) {
    ntr_cursors children = ntr_cursor_children(w, unit);
    for (size_t i = 0; i < children.count && !w->status; i++) {
        if (ntr_cursor_selected(w, children.items[i])) ntr_walk(w, children.items[i], 0);
    }
    ntr_cursors_release(w, &children);
}

/* ---- units ------------------------------------------------------------------------------------- */

/* Stores the first error of the unit, without its place. */
static bool find_error(const ntr_libclang *clang, CXTranslationUnit unit, char *why, size_t size) {
    unsigned count = clang->getNumDiagnostics(unit);
    for (unsigned i = 0; i < count; i++) {
        CXDiagnostic diagnostic = clang->getDiagnostic(unit, i);
        bool error = clang->getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error;
        if (error) {
            CXString text = clang->formatDiagnostic(diagnostic, CXDiagnostic_DisplaySourceLocation);
            snprintf(why, size, "%s", clang->getCString(text));
            clang->disposeString(text);
        }
        clang->disposeDiagnostic(diagnostic);
        if (error) return true;
    }
    return false;
}

static void *end_at_once(void *user) {
    return user;
}

/* libclang parses in a thread with this stack, and ends the process if it cannot start one. Returns 0 or a number of
 * errno. */
static int try_thread(void) {
    pthread_attr_t attributes;
    pthread_t thread;
    int error = pthread_attr_init(&attributes);
    if (error) return error;
    error = pthread_attr_setstacksize(&attributes, CLANG_STACK);
    if (!error) error = pthread_create(&thread, &attributes, end_at_once, NULL);
    if (!error) error = pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
    return error;
}

static CXTranslationUnit parse_file(const ntr_parser *p, CXIndex index, const ntr_parse_unit *unit) {
    CXTranslationUnit tu = NULL;
    const enum CXErrorCode code = p->clang.parseTranslationUnit2(
        index, unit->file, unit->arguments, (int)unit->argument_count, NULL, 0, CXTranslationUnit_KeepGoing, &tu);
    return code == CXError_Success ? tu : NULL;
}

typedef struct trial {
    const ntr_parser *parser;
    CXIndex index;
    const ntr_parse_unit *unit;
} trial;

static bool try_unit(const void *user) {
    const trial *t = user;
    return parse_file(t->parser, t->index, t->unit) != NULL;
}

static ntr_status parse(ntr_parser *p, CXIndex index, ntr_decisions *d, const ntr_parse_unit *unit, char *why,
                        size_t size) {
    const int error = try_thread();
    if (error) {
        snprintf(why, size, "libclang cannot start a thread: %s", strerror(error));
        return NTR_E_FORMAT;
    }
    const trial first = {p, index, unit};
    const char *reason = unit->guard ? unit->guard(try_unit, &first) : NULL;
    CXTranslationUnit tu = reason ? NULL : parse_file(p, index, unit);
    if (!tu) {
        snprintf(why, size, "%s", reason ? reason : "libclang cannot parse it");
        return NTR_E_FORMAT;
    }
    ntr_unit_walk w = {.clang = &p->clang,
                       .decisions = d,
                       .unit = tu,
                       .walk = ntr_walk,
                       .only = unit->only,
                       .only_count = unit->only_count};
    w.status = find_error(&p->clang, tu, why, size) ? NTR_E_FORMAT : NTR_OK;
    if (!w.status) walk_unit(&w, p->clang.getTranslationUnitCursor(tu));
    if (!w.status && w.too_deep) {
        snprintf(why, size, "statements are nested too deeply");
        w.status = NTR_E_FORMAT;
    }
    p->clang.disposeTranslationUnit(tu);
    return w.status;
}

ntr_status ntr_parser_parse(ntr_parser *p, ntr_decisions *d, const ntr_parse_unit *unit, char *why, size_t size) {
    CXIndex index = p->clang.createIndex(0, 0);
    if (!index) return NTR_E_MEMORY;
    ntr_status status = parse(p, index, d, unit, why, size);
    p->clang.disposeIndex(index);
    return status;
}

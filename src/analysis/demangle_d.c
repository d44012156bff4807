/* Demangling of the names of D functions: module, classes, function; without types, which the name has for overloads.
 *
 * A mangled name is "_D", parts, and a type. A part is its length and an identifier ("4work"), 'Q' and the distance to
 * an earlier identifier in base 26, or the instance of a template: "__T", an identifier, arguments, 'Z'. Behind a part
 * stands the type of a function if others are inside of it. Parameters and arguments are parsed, to find where they
 * end, and not shown.
 *
 * Example: _D4work__T5twiceTiZQjFiZi is work.twice!(...).twice. */
#include "analysis/demangle.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { D_NESTING_MAX = 64 };

typedef struct parser {
    const char *name, *at;
    char *out; /* NULL: the text is not wanted */
    size_t size, most;
    unsigned depth;
    size_t *left; /* types and names that may still be parsed: some are parsed twice, and nested ones more often */
} parser;

static bool take_type(parser *p);
static bool take_qualified(parser *p);

static bool take(parser *p, const char *text) {
    const size_t length = strlen(text);
    if (strncmp(p->at, text, length) != 0) return false;
    p->at += length;
    return true;
}

static bool put(parser *p, const char *text, size_t length) {
    if (!p->out) return true;
    if (length > p->most - p->size) return false;
    memcpy(p->out + p->size, text, length);
    p->size += length;
    return true;
}

static bool enter(parser *p) {
    if (p->depth >= D_NESTING_MAX || *p->left == 0) return false;
    --*p->left;
    p->depth++;
    return true;
}

static bool take_number(parser *p, size_t *number) {
    if (!isdigit((unsigned char)*p->at)) return false;
    for (*number = 0; isdigit((unsigned char)*p->at); p->at++) {
        if (*number > 1u << 24) return false;
        *number = *number * 10 + (size_t)(*p->at - '0');
    }
    return true;
}

/* Reads "Q" and a distance. Returns where it leads to, before the 'Q', or NULL. */
static const char *take_reference(parser *p) {
    const char *const from = p->at++;
    size_t distance = 0;
    for (; isupper((unsigned char)*p->at); p->at++) {
        if (distance > 1u << 24) return NULL;
        distance = distance * 26 + (size_t)(*p->at - 'A');
    }
    if (!islower((unsigned char)*p->at)) return NULL;
    distance = distance * 26 + (size_t)(*p->at++ - 'a');
    return distance && distance <= (size_t)(from - p->name) ? from - distance : NULL;
}

static bool is_template(const char *at) {
    return strncmp(at, "__T", 3) == 0 || strncmp(at, "__U", 3) == 0;
}

static bool begins_part(const parser *p) {
    if (isdigit((unsigned char)*p->at) || is_template(p->at)) return true;
    parser ahead = *p;
    const char *to = *p->at == 'Q' ? take_reference(&ahead) : NULL;
    return to && isdigit((unsigned char)*to);
}

/* What source code has in place of the names that the compiler gives. */
static bool put_identifier(parser *p, const char *text, size_t length) {
    static const struct {
        const char *mangled, *shown;
    } special[] = {{"__ctor", "this"}, {"__dtor", "~this"}, {"__postblit", "this(this)"}};
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        if (length == strlen(special[i].mangled) && memcmp(text, special[i].mangled, length) == 0)
            return put(p, special[i].shown, strlen(special[i].shown));
    return put(p, text, length);
}

static bool take_identifier(parser *p) {
    size_t length;
    if (*p->at == 'Q') {
        const char *to = take_reference(p);
        parser there = *p;
        there.at = to;
        if (!to || !isdigit((unsigned char)*to) || !take_identifier(&there)) return false;
        p->size = there.size;
        return true;
    }
    if (!take_number(p, &length) || length == 0 || length > strlen(p->at)) return false;
    p->at += length;
    return put_identifier(p, p->at - length, length);
}

static bool take_digits_of(parser *p, const char *digits) {
    const size_t length = strspn(p->at, digits);
    p->at += length;
    return length != 0;
}

static bool take_value(parser *p, char type) {
    size_t count;
    const char kind = *p->at;
    if (isdigit((unsigned char)kind)) return take_number(p, &count);
    if (!kind) return false;
    p->at++;
    switch (kind) {
    case 'n': return true;
    case 'i':
    case 'N': return take_number(p, &count);
    case 'e':
    case 'c':
        for (int i = 0; i < (kind == 'c' ? 2 : 1); i++) {
            if (i && !take(p, "c")) return false;
            take(p, "N");
            if (take(p, "AN") || take(p, "INF")) continue;
            if (!take_digits_of(p, "0123456789ABCDEF") || !take(p, "P")) return false;
            take(p, "N");
            if (!take_number(p, &count)) return false;
        }
        return true;
    case 'a':
    case 'w':
    case 'd':
        if (!take_number(p, &count) || !take(p, "_")) return false;
        take_digits_of(p, "0123456789abcdef"); /* none for "" */
        return true;
    case 'A':
    case 'S':
        if (!take_number(p, &count)) return false;
        for (count *= kind == 'A' && type == 'H' ? 2 : 1; count; count--)
            if (!take_value(p, 0)) return false;
        return true;
    case 'f': return take(p, "_D") && take_qualified(p) && take_type(p);
    default: return false;
    }
}

/* Arguments of a template, to the 'Z'. */
static bool take_arguments(parser *p) {
    size_t length;
    while (*p->at && *p->at != 'Z') {
        take(p, "H");
        const char kind = *p->at++, type = kind ? *p->at : 0;
        bool good = false;
        if (kind == 'T') good = take_type(p);
        if (kind == 'V') good = take_type(p) && take_value(p, type);
        if (kind == 'S') good = take(p, "_D") ? take_qualified(p) && take_type(p) : take_qualified(p);
        if (kind == 'X' && take_number(p, &length) && length <= strlen(p->at)) {
            p->at += length;
            good = true;
        }
        if (!good) return false;
    }
    return take(p, "Z");
}

static bool take_part(parser *p) {
    if (!is_template(p->at)) return take_identifier(p);
    p->at += 3;
    if (!take_identifier(p)) return false;
    parser arguments = *p;
    arguments.out = NULL;
    if (!take_arguments(&arguments)) return false;
    p->at = arguments.at;
    return put(p, "!(...)", 6);
}

static void take_modifiers(parser *p) {
    while (take(p, "x") || take(p, "y") || take(p, "O") || take(p, "Ng")) continue;
}

/* The type of a function without its result. */
static bool take_function(parser *p) {
    if (!*p->at || !strchr("FUWVRY", *p->at)) return false;
    for (p->at++; *p->at == 'N' && p->at[1] && strchr("abcdefijlm", p->at[1]);) p->at += 2;
    while (*p->at && !strchr("XYZ", *p->at)) {
        while (take(p, "M") || take(p, "Nk") || take(p, "I") || take(p, "J") || take(p, "K") || take(p, "L")) continue;
        if (!take_type(p)) return false;
    }
    return *p->at && p->at++;
}

/* The type of the function that the parts before stand for, if there is one. */
static void take_own_type(parser *p) {
    parser ahead = *p;
    ahead.out = NULL;
    if (take(&ahead, "M")) take_modifiers(&ahead);
    if (take_function(&ahead) && *ahead.at) p->at = ahead.at;
}

static bool take_parts(parser *p) {
    bool any = false;
    do {
        if (*p->at == '0') { /* a part without name */
            p->at++;
            continue;
        }
        if (any && !put(p, ".", 1)) return false;
        if (!take_part(p)) return false;
        any = true;
        take_own_type(p);
    } while (begins_part(p));
    return any;
}

static bool take_qualified(parser *p) {
    if (!enter(p)) return false;
    const bool good = take_parts(p);
    p->depth--;
    return good;
}

static bool take_type_inside(parser *p) {
    size_t number;
    const char kind = *p->at;
    if (kind == 'Q') return take_reference(p) != NULL;
    if (kind && strchr("FUWVRY", kind)) return take_function(p) && take_type(p);
    if (!kind) return false;
    p->at++;
    switch (kind) {
    case 'O':
    case 'x':
    case 'y':
    case 'A':
    case 'P': return take_type(p);
    case 'N': return take(p, "n") || ((take(p, "g") || take(p, "h")) && take_type(p));
    case 'G': return take_number(p, &number) && take_type(p);
    case 'H': return take_type(p) && take_type(p);
    case 'C':
    case 'S':
    case 'E':
    case 'T':
    case 'I': return take_qualified(p);
    case 'D': take_modifiers(p); return *p->at == 'Q' ? take_reference(p) != NULL : take_function(p) && take_type(p);
    case 'B':
        if (!take_number(p, &number)) return false;
        for (; number; number--)
            if (!take_type(p)) return false;
        return true;
    case 'z': return take(p, "i") || take(p, "k");
    default: return strchr("vghstiklmfdeopjqrcbauwn", kind) != NULL;
    }
}

static bool take_type(parser *p) {
    if (!enter(p)) return false;
    const bool good = take_type_inside(p);
    p->depth--;
    return good;
}

char *ntr_demangle_d(const char *name, size_t most) {
    if (strcmp(name, "_Dmain") == 0) return strdup("D main");
    const size_t length = strlen(name);
    if (length < 4 || length > most) return NULL;
    /* References make it longer than the name, each by at most the longest identifier: such names are not shown. */
    size_t left = 16 * length;
    parser p = {.name = name, .at = name + 2, .left = &left, .most = most < 8 * length ? most : 8 * length};
    p.out = malloc(p.most + 1);
    if (!p.out) return NULL;
    bool good = take_qualified(&p);
    parser type = p;
    type.out = NULL;
    good = good && take_type(&type) && (!*type.at || *type.at == '.') && put(&p, type.at, strlen(type.at));
    if (good) p.out[p.size] = '\0';
    if (good) return p.out;
    free(p.out);
    return NULL;
}

/* Sizes of Itanium C++ names. The name is parsed once, from left to right, as a demangler does. Each function consumes
 * one rule of the grammar and returns the size of its text, at least 1 for each part. Only sizes are kept: those of the
 * substitutions, and of the template arguments that T_ means. */
#include "analysis/mangled_scan.h"
#include "analysis/mangled_size.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A name of at most FREE_REFERENCES references is small without being parsed: 2^6 times its length. */
enum { CXX_DEPTH_MAX = 512, FREE_REFERENCES = 5, NAME_MAX_BYTES = 1024 };

static uint32_t type(sizer *s);
static uint32_t encoding(sizer *s);
static uint32_t expression(sizer *s);
static uint32_t name(sizer *s, bool of_encoding);

/* Ty, Tn TYPE, Tt ... E, Tp DECLARATION, Tk NAME: what kind of parameter an argument is for. */
static uint32_t declaration(sizer *s) {
    uint32_t size = 10;
    if (++s->depth > CXX_DEPTH_MAX) return too_large(s);
    if (take(s, "Tn")) {
        size = sum(s, size, type(s));
    } else if (take(s, "Tk")) {
        size = sum(s, size, name(s, false));
    } else if (take(s, "Tp")) {
        size = sum(s, size, declaration(s));
    } else if (take(s, "Tt")) {
        while (*s->at && *s->at != 'E') size = sum(s, size, declaration(s));
        need(s, "E");
    } else {
        need(s, "Ty");
    }
    s->depth--;
    return size;
}

static uint32_t argument(sizer *s, uint32_t *elements) {
    uint32_t size = 1;
    *elements = 1;
    if (++s->depth > CXX_DEPTH_MAX) return too_large(s);
    if (*s->at == 'T' && one_of(s->at[1], "ynptk")) size = declaration(s);
    if (take(s, "J")) {
        for (*elements = 0; *s->at && *s->at != 'E'; ++*elements) {
            uint32_t inner;
            size = sum(s, size, argument(s, &inner));
        }
        need(s, "E");
    } else if (take(s, "X")) {
        size = sum(s, size, expression(s));
        need(s, "E");
    } else {
        size = sum(s, size, *s->at == 'L' ? expression(s) : type(s));
    }
    s->depth--;
    return size;
}

/* I ... E. `current`: T_ means these arguments from now on, also in the arguments after them. */
static uint32_t arguments(sizer *s, bool current) {
    uint32_t size = 2;
    need(s, "I");
    if (current) s->arguments.count = s->arguments.largest_pack = 0;
    while (*s->at && *s->at != 'E' && *s->at != 'Q') {
        uint32_t elements;
        const uint32_t one = argument(s, &elements);
        size = sum(s, size, one);
        if (one > s->largest) s->largest = one;
        if (!current) continue;
        if (s->arguments.count == ARGUMENTS_MAX) return too_large(s);
        s->arguments.sizes[s->arguments.count++] = one;
        if (elements > s->arguments.largest_pack) s->arguments.largest_pack = elements;
    }
    if (take(s, "Q")) size = sum(s, size, expression(s));
    need(s, "E");
    return size;
}

static uint32_t tags(sizer *s, uint32_t size) {
    while (take(s, "B")) size = sum(s, size, source_name(s));
    return size;
}

static uint32_t types_until_end(sizer *s) {
    uint32_t size = 1;
    /* NOLINTNEXTLINE(clang-analyzer-core.*): the text ends with 0 */
    while (*s->at && !one_of(*s->at, "E._Q$") && !next_is(s, "RE") && !next_is(s, "OE")) size = sum(s, size, type(s));
    return size;
}

static uint32_t lambda_parameters(sizer *s) {
    const uint32_t outside = s->autos;
    uint32_t size = 1, autos = 0;

    s->lambdas++;
    while (*s->at && !one_of(*s->at, "E._Q$")) {
        s->autos = 0;
        size = sum(s, size, type(s));
        autos += s->autos;
    }
    s->lambdas--;
    s->autos = s->lambdas ? outside + autos : 0;
    return size;
}

static uint32_t unqualified(sizer *s) {
    uint32_t size = 4;
    (void)take(s, "F");
    (void)take(s, "L");
    while (take(s, "W")) {
        (void)take(s, "P");
        size = sum(s, size, source_name(s));
    }
    if (is_digit(*s->at)) {
        size = sum(s, size, source_name(s));
    } else if (take(s, "Ut")) {
        (void)take_number(s);
        need(s, "_");
    } else if (take(s, "Ul")) {
        size = sum(s, size, lambda_parameters(s));
        need(s, "E");
        (void)take_number(s);
        need(s, "_");
    } else if (take(s, "DC")) {
        while (is_digit(*s->at)) size = sum(s, size, source_name(s));
        need(s, "E");
    } else if (one_of(*s->at, "CD")) { /* constructor, destructor: the name of the class again, without arguments */
        const bool inherits = *s->at++ == 'C' && take(s, "I");
        if (!is_digit(*s->at)) return fail(s);
        s->at++;
        size = NAME_MAX_BYTES;
        if (inherits) size = sum(s, size, type(s));
    } else if (take(s, "cv")) {
        size = sum(s, size, type(s));
    } else if (take(s, "li") || (s->at[0] == 'v' && is_digit(s->at[1]) && (s->at += 2))) {
        size = sum(s, size, source_name(s));
    } else if (*s->at >= 'a' && *s->at <= 'z' && s->at[1]) {
        s->at += 2; /* an operator */
    } else {
        return fail(s);
    }
    return tags(s, size);
}

/* N ... E; the last prefix is no substitution. */
static uint32_t nested(sizer *s, bool of_encoding) {
    uint32_t size = 0;
    need(s, "N");
    (void)take(s, "H");
    skip_set(s, "rVK");
    if (*s->at == 'R' || *s->at == 'O') s->at++;
    if (*s->at == 'E') return fail(s);
    while (*s->at && !take(s, "E")) {
        bool known = false;
        if (*s->at == 'I') {
            size = sum(s, size, arguments(s, of_encoding));
        } else if (*s->at == 'S') {
            known = true;
            size = sum(s, size, substitution(s));
        } else if (*s->at == 'T') {
            size = sum(s, size, template_parameter(s));
        } else if (next_is(s, "Dt") || next_is(s, "DT")) {
            s->at += 2;
            size = sum(s, size, expression(s));
            need(s, "E");
        } else {
            size = sum(s, size, unqualified(s));
        }
        (void)take(s, "M");
        if (!known && *s->at != 'E') remember(s, size);
    }
    return size;
}

static void discriminator(sizer *s) {
    if (take(s, "__")) {
        (void)take_number(s);
        need(s, "_");
    } else if (s->at[0] == '_' && is_digit(s->at[1])) {
        s->at += 2;
    }
}

static uint32_t local(sizer *s, bool of_encoding) {
    need(s, "Z");
    uint32_t size = encoding(s);
    need(s, "E");
    if (take(s, "s")) {
        discriminator(s);
        return sum(s, size, 16);
    }
    if (take(s, "d")) {
        (void)take_number(s);
        need(s, "_");
        return sum(s, size, name(s, of_encoding));
    }
    size = sum(s, size, name(s, of_encoding));
    discriminator(s);
    return size;
}

static uint32_t name(sizer *s, bool of_encoding) {
    uint32_t size;
    if (++s->depth > CXX_DEPTH_MAX) return too_large(s);
    if (*s->at == 'N') {
        size = nested(s, of_encoding);
    } else if (*s->at == 'Z') {
        size = local(s, of_encoding);
    } else if (*s->at == 'S' && s->at[1] != 't') {
        size = substitution(s);
        if (*s->at == 'I') size = sum(s, size, arguments(s, of_encoding));
    } else {
        (void)take(s, "St");
        size = sum(s, 6, unqualified(s));
        if (*s->at == 'I') {
            remember(s, size);
            size = sum(s, size, arguments(s, of_encoding));
        }
    }
    s->depth--;
    return size;
}

static uint32_t function_type(sizer *s) {
    need(s, "F");
    (void)take(s, "Y");
    const uint32_t size = types_until_end(s);
    if (*s->at == 'R' || *s->at == 'O') s->at++;
    need(s, "E");
    return sum(s, size, 8);
}

/* Types that begin with D. */
static uint32_t type_d(sizer *s, bool *substitutable) {
    const char kind = s->at[1];
    uint32_t size = 16;
    s->at += kind ? 2 : 1;
    *substitutable = one_of(kind, "pPtTvoOwx");
    if (kind == 'p') {
        const uint32_t elements = s->arguments.largest_pack ? s->arguments.largest_pack : s->later;
        return product(s, sum(s, type(s), 2), elements ? elements : 1);
    }
    if (kind == 't' || kind == 'T') {
        size = sum(s, size, expression(s));
        need(s, "E");
    } else if (kind == 'v') {
        if (take(s, "_"))
            size = sum(s, size, expression(s));
        else
            (void)take_number(s);
        need(s, "_");
        size = sum(s, size, type(s));
    } else if (one_of(kind, "oOwx")) {
        if (kind == 'O') size = sum(s, size, expression(s));
        if (kind == 'w') size = sum(s, size, types_until_end(s));
        if (kind == 'O' || kind == 'w') need(s, "E");
        size = sum(s, size, type(s));
    } else if (kind == 'F' || kind == 'B' || kind == 'U') {
        (void)take_number(s);
        if (!take(s, "_") && !take(s, "b")) (void)take(s, "x");
    } else if (!one_of(kind, "defhsuiacnk")) {
        return fail(s);
    }
    return size;
}

static uint32_t plain_type(sizer *s, bool *substitutable) {
    uint32_t size;
    const char c = *s->at;
    *substitutable = true;
    if (one_of(c, "vwbcahstijlmxynofdegz")) {
        s->at++;
        *substitutable = false;
        return 18; /* unsigned long long */
    }
    if (one_of(c, "rVK")) {
        skip_set(s, "rVK");
        return sum(s, 24, type(s));
    }
    if (one_of(c, "PROGC")) {
        s->at++;
        return sum(s, 11, type(s));
    }
    if (c == 'F') return function_type(s);
    if (c == 'D') return type_d(s, substitutable);
    if (c == 'u' || c == 'U') {
        s->at++;
        size = source_name(s);
        if (*s->at == 'I') size = sum(s, size, arguments(s, false));
        return c == 'U' ? sum(s, size, type(s)) : size;
    }
    if (take(s, "A")) {
        size = 16;
        if (is_digit(*s->at))
            (void)take_number(s);
        else if (*s->at != '_')
            size = sum(s, size, expression(s));
        need(s, "_");
        return sum(s, size, type(s));
    }
    if (take(s, "M")) {
        size = type(s);
        return sum(s, size, type(s));
    }
    if (c == 'T' && !one_of(s->at[1], "sue")) {
        size = template_parameter(s);
        if (*s->at != 'I') return size;
        remember(s, size);
        return sum(s, size, arguments(s, false));
    }
    if (c == 'S' && s->at[1] != 't') {
        size = substitution(s);
        if (*s->at == 'I') return sum(s, size, arguments(s, false));
        *substitutable = false;
        return tags(s, size);
    }
    if (c == 'T') s->at += 2;
    return sum(s, name(s, false), 7);
}

static uint32_t type(sizer *s) {
    bool substitutable;
    if (++s->depth > CXX_DEPTH_MAX) return too_large(s);
    const uint32_t size = plain_type(s, &substitutable);
    if (substitutable) remember(s, size);
    s->depth--;
    return size;
}

/* ---- expressions ------------------------------------------------------------------------------- */

static uint32_t literal(sizer *s) {
    uint32_t size;
    need(s, "L");
    if (take(s, "_Z") || take(s, "Z")) {
        size = encoding(s);
    } else {
        const char *begin;
        size = type(s);
        begin = s->at;
        while (*s->at && *s->at != 'E') s->at++;
        size = sum(s, size, (uint32_t)(s->at - begin));
    }
    need(s, "E");
    return sum(s, size, 2);
}

static uint32_t expressions_until(sizer *s, const char *end) {
    uint32_t size = 2;
    while (*s->at && !next_is(s, end)) size = sum(s, size, expression(s));
    need(s, end);
    return size;
}

static uint32_t simple_identifier(sizer *s) {
    uint32_t size = source_name(s);
    if (*s->at == 'I') size = sum(s, size, arguments(s, false));
    return size;
}

static uint32_t base_unresolved(sizer *s) {
    if (is_digit(*s->at)) return simple_identifier(s);
    if (take(s, "dn")) return is_digit(*s->at) ? simple_identifier(s) : type(s);
    (void)take(s, "on");
    uint32_t size = unqualified(s);
    if (*s->at == 'I') size = sum(s, size, arguments(s, false));
    return size;
}

static uint32_t unresolved_type(sizer *s) {
    return type(s); /* also the arguments after it */
}

/* After "sr". */
static uint32_t unresolved(sizer *s) {
    uint32_t size = 2;
    if (take(s, "N")) {
        size = sum(s, size, unresolved_type(s));
        while (is_digit(*s->at)) size = sum(s, size, simple_identifier(s));
        need(s, "E");
    } else if (is_digit(*s->at)) {
        while (is_digit(*s->at)) size = sum(s, size, simple_identifier(s));
        (void)take(s, "E"); /* GCC: sr <type> <name> */
        if (*s->at != 'E' && !is_digit(*s->at) && !next_is(s, "on") && !next_is(s, "dn")) return size;
    } else {
        size = sum(s, size, unresolved_type(s));
    }
    return sum(s, size, base_unresolved(s));
}

static uint32_t function_parameter_or_fold(sizer *s) {
    uint32_t size = 16;
    if (take(s, "fpT")) return size;
    if (take(s, "fp") || (s->at[1] == 'L' && is_digit(s->at[2]))) {
        if (take(s, "fL")) {
            (void)take_number(s);
            need(s, "p");
        }
        skip_set(s, "rVK");
        (void)take_number(s);
        need(s, "_");
        return size;
    }
    const bool binary = one_of(s->at[1], "LR");
    if (!one_of(s->at[1], "lrLR") || !s->at[2] || !s->at[3]) return fail(s);
    s->at += 4;
    size = sum(s, size, expression(s));
    if (binary) size = sum(s, size, expression(s));
    const uint32_t elements = s->arguments.largest_pack ? s->arguments.largest_pack : s->later;
    return product(s, size, elements ? elements : 1);
}

/* What an expression is followed by: t type, e expression, * expressions and E, u an unresolved name. The other
 * operators have two expressions. */
static const struct {
    char code[3], parts[4];
} operators[] = {
    {"cl", "*"},  {"cp", "*"},  {"tl", "t*"}, {"il", "*"}, {"dl", "e"}, {"da", "e"},   {"dc", "te"}, {"sc", "te"},
    {"cc", "te"}, {"rc", "te"}, {"ti", "t"},  {"te", "e"}, {"st", "t"}, {"sz", "e"},   {"at", "t"},  {"az", "e"},
    {"nx", "e"},  {"dt", "eu"}, {"pt", "eu"}, {"tw", "e"}, {"tr", ""},  {"qu", "eee"}, {"nt", "e"},  {"ng", "e"},
    {"ps", "e"},  {"ad", "e"},  {"de", "e"},  {"co", "e"}, {"gs", "e"}, {"sP", "*"},   {"sZ", "e"},  {"aw", "e"},
};

static uint32_t operation(sizer *s) {
    const char code[3] = {s->at[0], s->at[1], 0};
    const char *parts = "ee";
    uint32_t size = 16;
    if (!one_of(code[0], "abcdeghilmnopqrst") || !code[1]) return fail(s);
    s->at += 2;
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++)
        if (strcmp(operators[i].code, code) == 0) parts = operators[i].parts;
    if ((strcmp(code, "pp") == 0 || strcmp(code, "mm") == 0)) {
        (void)take(s, "_");
        parts = "e";
    }
    for (; *parts; parts++)
        size = sum(s, size,
                   *parts == 't'   ? type(s)
                   : *parts == 'e' ? expression(s)
                   : *parts == '*' ? expressions_until(s, "E")
                                   : (take(s, "sr") ? unresolved(s) : base_unresolved(s)));
    return size;
}

static uint32_t conversion(sizer *s) {
    const uint32_t size = type(s);
    return sum(s, size, take(s, "_") ? expressions_until(s, "E") : expression(s));
}

static uint32_t creation(sizer *s) {
    uint32_t size = expressions_until(s, "_");
    size = sum(s, size, type(s));
    if (take(s, "E")) return size;
    if (take(s, "pi")) return sum(s, size, expressions_until(s, "E"));
    return sum(s, size, expression(s));
}

static uint32_t expression(sizer *s) {
    uint32_t size = 16;
    if (++s->depth > CXX_DEPTH_MAX) return too_large(s);
    if (*s->at == 'L') { /* NOLINT(clang-analyzer-core.*): the text ends with 0 */
        size = literal(s);
    } else if (*s->at == 'T') {
        size = template_parameter(s);
    } else if (*s->at == 'f') {
        size = function_parameter_or_fold(s);
    } else if (is_digit(*s->at)) {
        size = simple_identifier(s);
    } else if (take(s, "u")) {
        size = source_name(s);
        while (*s->at && *s->at != 'E') {
            uint32_t elements;
            size = sum(s, size, argument(s, &elements));
        }
        need(s, "E");
    } else if (take(s, "sr") || take(s, "gssr")) {
        size = unresolved(s);
    } else if (next_is(s, "on") || next_is(s, "dn")) {
        size = base_unresolved(s);
    } else if (take(s, "sp")) {
        const uint32_t elements = s->arguments.largest_pack ? s->arguments.largest_pack : s->later;
        size = product(s, sum(s, expression(s), 2), elements ? elements : 1);
    } else if (take(s, "cv")) {
        size = conversion(s);
    } else if (take(s, "nw") || take(s, "na") || take(s, "gsnw") || take(s, "gsna")) {
        size = creation(s);
    } else {
        size = operation(s);
    }
    s->depth--;
    return sum(s, size, 2);
}

/* ---- functions and data ------------------------------------------------------------------------ */

static void call_offset(sizer *s) {
    const char kind = *s->at;
    if (kind != 'h' && kind != 'v') {
        fail(s);
        return;
    }
    s->at++;
    (void)take_number(s);
    need(s, "_");
    if (kind == 'h') return;
    (void)take_number(s);
    need(s, "_");
}

static uint32_t special(sizer *s) {
    uint32_t size = 40;
    if (take(s, "GV") || take(s, "TW") || take(s, "TH")) return sum(s, size, name(s, true));
    if (take(s, "GR")) {
        size = sum(s, size, name(s, true));
        if (*s->at && *s->at != 'E' && *s->at != '.') sequence(s, 36);
        return size;
    }
    if (take(s, "GTt") || take(s, "GTn") || take(s, "GA")) return sum(s, size, encoding(s));
    if (take(s, "Tc")) {
        call_offset(s);
        call_offset(s);
        return sum(s, size, encoding(s));
    }
    if (take(s, "TC")) {
        size = sum(s, size, type(s));
        (void)take_number(s);
        need(s, "_");
        return sum(s, size, type(s));
    }
    if (next_is(s, "Th") || next_is(s, "Tv")) {
        s->at++;
        call_offset(s);
        return sum(s, size, encoding(s));
    }
    if (take(s, "TA")) {
        uint32_t elements;
        return sum(s, size, argument(s, &elements));
    }
    if (take(s, "TV") || take(s, "TT") || take(s, "TI") || take(s, "TS") || take(s, "TF") || take(s, "TJ"))
        return sum(s, size, type(s));
    return fail(s);
}

static uint32_t encoding(sizer *s) {
    const argument_list outer = s->arguments;
    uint32_t size;
    if (++s->depth > CXX_DEPTH_MAX) return too_large(s);
    if (*s->at == 'G' || *s->at == 'T') {
        size = special(s);
    } else {
        size = name(s, true);
        if (take(s, "Ua9enable_ifI")) size = sum(s, size, expressions_until(s, "E"));
        size = sum(s, size, types_until_end(s));
        if (take(s, "Q")) size = sum(s, size, expression(s));
    }
    s->arguments = outer;
    s->depth--;
    return size;
}

static size_t references(const char *text) {
    size_t count = 0;
    for (const char *at = text; *at; at++) count += *at == 'S' || *at == 'T' || (at[0] == 'D' && at[1] == 'p');
    return count;
}

static ntr_mangled_size measure(const char *text, uint32_t most, uint32_t later, uint32_t *largest) {
    sizer s = {.at = text, .later = later, .most = most};
    (void)encoding(&s);
    *largest = s.largest;
    if (s.large) return s.unsure ? NTR_MANGLED_ODD : NTR_MANGLED_LARGE;
    return !s.failed && (!*s.at || *s.at == '.' || *s.at == '$' || *s.at == '@') ? NTR_MANGLED_SMALL : NTR_MANGLED_ODD;
}

ntr_mangled_size ntr_mangled_cxx_size(const char *text, uint32_t most) {
    uint32_t largest, again;
    if (strlen(text) > most >> FREE_REFERENCES) return NTR_MANGLED_LARGE;
    if (references(text + 2) <= FREE_REFERENCES) return NTR_MANGLED_SMALL;
    /* A conversion operator names its template arguments before they come: they are measured in a first pass. */
    const ntr_mangled_size first = measure(text + 2, most, 1, &largest);
    if (first != NTR_MANGLED_SMALL) return first;
    const ntr_mangled_size second = measure(text + 2, most, largest, &again);
    /* Arguments that stand for each other: no bound is known, and the name need not be large. */
    return second == NTR_MANGLED_SMALL && again > largest ? NTR_MANGLED_ODD : second;
}

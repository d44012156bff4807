/* Reading an Itanium C++ name for its size: the state of the parser, and what takes characters, numbers and names. */
#ifndef NTR_ANALYSIS_MANGLED_SCAN_H
#define NTR_ANALYSIS_MANGLED_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { SUBSTITUTIONS_MAX = 1024, ARGUMENTS_MAX = 256 };

typedef struct argument_list {
    uint32_t sizes[ARGUMENTS_MAX];
    uint32_t count, largest_pack;
} argument_list;

typedef struct sizer {
    const char *at;
    uint32_t substitutions[SUBSTITUTIONS_MAX];
    uint32_t substitution_count;
    argument_list arguments; /* what T_ refers to */
    uint32_t later;          /* assumed for T_ whose argument has not been read */
    uint32_t largest;        /* argument */
    unsigned depth, lambdas; /* whose parameters are being read */
    /* T_ is shown as auto:N in a parameter of a lambda, but is an argument where the parameter is substituted behind
     * the lambda: how many there are in this parameter, what was remembered with one, and whether such a substitution
     * was read. */
    uint32_t autos;
    bool of_lambda[SUBSTITUTIONS_MAX], unsure;
    uint32_t most;
    bool failed; /* too large, or not understood */
    bool large;
} sizer;

static inline uint32_t fail(sizer *s) {
    static const char nothing[] = "";
    s->failed = true;
    s->at = nothing; /* all loops end */
    return 1;
}

static inline uint32_t too_large(sizer *s) {
    s->large |= !s->failed;
    return fail(s);
}

static inline uint32_t sum(sizer *s, uint32_t a, uint32_t b) {
    return a + b > s->most ? too_large(s) : a + b;
}

static inline uint32_t product(sizer *s, uint32_t a, uint32_t b) {
    return (uint64_t)a * b > s->most ? too_large(s) : a * b;
}

static inline bool next_is(const sizer *s, const char *text) {
    return strncmp(s->at, text, strlen(text)) == 0;
}

static inline bool take(sizer *s, const char *text) {
    if (!next_is(s, text)) return false;
    s->at += strlen(text);
    return true;
}

static inline void need(sizer *s, const char *text) {
    if (!take(s, text)) fail(s);
}

static inline bool one_of(char c, const char *set) {
    return c && strchr(set, c);
}

static inline bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static inline uint32_t take_number(sizer *s) {
    uint32_t value = 0;
    (void)take(s, "n");
    while (is_digit(*s->at) && value < 1 << 20) value = value * 10 + (uint32_t)(*s->at++ - '0');
    return value;
}

static inline void skip_set(sizer *s, const char *set) {
    while (one_of(*s->at, set)) s->at++;
}

static inline uint32_t remember(sizer *s, uint32_t size) {
    const uint64_t argument = s->largest > s->later ? s->largest : s->later, expanded = size + s->autos * argument;
    if (s->substitution_count == SUBSTITUTIONS_MAX) return too_large(s);
    s->substitutions[s->substitution_count] = expanded > s->most ? s->most : (uint32_t)expanded;
    s->of_lambda[s->substitution_count++] = s->autos != 0;
    return size;
}

static inline uint32_t digit_of(char c) {
    if (is_digit(c)) return (uint32_t)(c - '0');
    return c >= 'A' && c <= 'Z' ? (uint32_t)(c - 'A') + 10 : UINT32_MAX;
}

/* "_", or digits of `base` and "_": 0, 1, ... */
static inline uint32_t sequence(sizer *s, uint32_t base) {
    uint32_t value = 0;
    if (take(s, "_")) return 0;
    for (; *s->at && *s->at != '_' && value < 1 << 20; s->at++) {
        const uint32_t digit = digit_of(*s->at);
        if (digit >= base) return fail(s);
        value = value * base + digit;
    }
    need(s, "_");
    return value + 1;
}

static inline uint32_t source_name(sizer *s) {
    /* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): the text ends with 0 */
    const uint32_t length = is_digit(*s->at) ? take_number(s) : 0;
    if (!length || strlen(s->at) < length) return fail(s);
    s->at += length;
    return length;
}

/* S_, S0_, ... and the abbreviations. */
static inline uint32_t substitution(sizer *s) {
    need(s, "S");
    if (one_of(*s->at, "tabsiod")) {
        s->at++;
        return 64; /* std::basic_iostream<char, std::char_traits<char> > is the longest */
    }
    const uint32_t index = sequence(s, 36);
    if (index >= s->substitution_count) return fail(s);
    s->unsure |= s->of_lambda[index];
    return s->substitutions[index];
}

/* T_, T0_, TL0__, ... */
static inline uint32_t template_parameter(sizer *s) {
    need(s, "T");
    if (take(s, "L")) sequence(s, 10);
    const uint32_t index = sequence(s, 10);
    if (s->lambdas) {
        s->autos++;
        return sizeof "auto:4294967295" - 1;
    }
    return index < s->arguments.count ? s->arguments.sizes[index] : s->later;
}

#endif

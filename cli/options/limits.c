#include "options/limits.h"

#include "options/diagnostics.h"
#include "options/words.h"

#include <inttypes.h>
#include <string.h>

static const struct {
    const char *name, *what;
    uint64_t value, highest;
} rows[] = {
#define NTR_LIMIT(constant, name, value, highest, what) {name, what, value, highest},
#include <ntrace/limits.def>
#include "options/limits.def"
#undef NTR_LIMIT
};

static const char units[] = "KMGT";
static uint64_t given[CLI_LIMIT_COUNT]; /* 0: not given */
static ntr_limits of_libraries;

uint64_t cli_limit(enum cli_limit limit) {
    return given[limit] ? given[limit] : rows[limit].value;
}

const char *cli_limit_name(enum cli_limit limit) {
    return rows[limit].name;
}

const ntr_limits *cli_limits(void) {
    return &of_libraries;
}

/* "64M" is 64 << 20; "64MiB" is the same. */
static bool parse_size(const char *text, uint64_t *value) {
    char digits[24];
    const size_t length = strspn(text, "0123456789");
    const char *unit = text[length] ? strchr(units, text[length]) : NULL;

    if (length == 0 || length >= sizeof digits) return cli_parse_number(text, value);
    if (text[length] && (!unit || (text[length + 1] && strcmp(text + length + 1, "iB") != 0)))
        return cli_parse_number(text, value);
    memcpy(digits, text, length);
    digits[length] = 0;
    const unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    if (!cli_parse_number(digits, value) || *value > UINT64_MAX >> shift) return false;
    *value <<= shift;
    return true;
}

static int find(const char *name, size_t length) {
    for (int i = 0; i < CLI_LIMIT_COUNT; i++)
        if (strlen(rows[i].name) == length && memcmp(rows[i].name, name, length) == 0) return i;
    return -1;
}

static bool refuse_name(const char *text, size_t length) {
    char name[64] = "";

    if (length < sizeof name) memcpy(name, text, length);
    for (int i = 0; i < CLI_LIMIT_COUNT; i++)
        if (cli_looks_like(name, rows[i].name)) {
            cli_note("--limit: no limit '%.*s'; did you mean '%s'?", (int)length, text, rows[i].name);
            return false;
        }
    cli_note("--limit: no limit '%.*s'; 'ntrace help limits' lists them", (int)length, text);
    return false;
}

bool cli_limit_set(const char *text) {
    const size_t length = strcspn(text, "=");
    const int i = find(text, length);
    uint64_t value = 0;

    if (!text[length]) {
        cli_note("--limit: expected NAME=VALUE, found '%s'; 'ntrace help limits' lists the names", text);
        return false;
    }
    if (i < 0) return refuse_name(text, length);
    if (!parse_size(text + length + 1, &value) || value == 0 || value > rows[i].highest) {
        cli_note("--limit: %s: expected a number from 1 to %" PRIu64 ", which may end in K, M, G or T, found '%s'",
                 rows[i].name, rows[i].highest, text + length + 1);
        return false;
    }
    given[i] = value;
    if (i < (int)NTR_LIMIT_COUNT) of_libraries.values[i] = value;
    return true;
}

void cli_limits_list(FILE *out) {
    for (int i = 0; i < CLI_LIMIT_COUNT; i++) {
        uint64_t value = cli_limit((enum cli_limit)i);
        unsigned unit = 0;
        while (unit < sizeof units - 1 && value >= 1024 && value % 1024 == 0) value >>= 10, unit++;
        char text[24];
        snprintf(text, sizeof text, "%" PRIu64 "%.1s", value, unit ? units + unit - 1 : "");
        fprintf(out, "  %-18s%8s  %s\n", rows[i].name, text, rows[i].what);
    }
}

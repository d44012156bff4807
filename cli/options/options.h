/* Option tables: each command declares its options once; parsing, usage text, man page and shell
 * completion all read the same table.
 *
 * A command's options live in one struct of its own. Options come in groups; a group is a table over a
 * part of that struct, so that several commands share one (the stream's options, the output's). */
#ifndef CLI_OPTIONS_OPTIONS_H
#define CLI_OPTIONS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cli_kind {
    CLI_END = 0,     /* ends a table */
    CLI_KIND_SET,    /* int := constant */
    CLI_KIND_NUMBER, /* int64_t := value, decimal or 0x, between min and max */
    CLI_KIND_CHOICE, /* int := index of the value in "a|b|c" */
    CLI_KIND_STRING, /* const char * := value */
    CLI_KIND_LIST,   /* struct cli_list: append {name, value} */
};

enum cli_argument {
    CLI_ARGUMENT_VALUE = 0, /* --name VALUE, --name=VALUE */
    CLI_ARGUMENT_OPTIONAL,  /* LIST: --name or --name=VALUE; without value the item's is NULL */
    CLI_ARGUMENT_SWITCH,    /* LIST: --name (value NULL) or --no-name (value "off") */
};

struct cli_option {
    uint8_t kind;      /* enum cli_kind */
    uint8_t argument;  /* enum cli_argument */
    char letter;       /* short name, or 0 */
    const char *name;  /* long name without "--" */
    const char *value; /* what help calls the value ("N", "FILE"); a choice lists its names, "btm|htm" */
    size_t member;     /* offset in the group's struct */
    int64_t min, max;
    int64_t initial;  /* SET, NUMBER, CHOICE: what the member holds when the option is not given */
    int64_t constant; /* SET */
    bool as_text;     /* the member is const char * := the value as text, once checked; NULL when not given */
    const char *text; /* SET with `as_text`: that value */
    const char *help; /* one sentence, no full stop */
};

/* Rows. `S` is the struct, `m` its member. */
#define CLI_SET(l, n, S, m, first, is, text)                                                                           \
    {                                                                                                                  \
        .kind = CLI_KIND_SET, .letter = l, .name = n, .member = offsetof(S, m), .initial = first, .constant = is,      \
        .help = text                                                                                                   \
    }
#define CLI_FLAG(l, n, S, m, text) CLI_SET(l, n, S, m, 0, 1, text)
#define CLI_NUMBER(l, n, v, S, m, lo, hi, first, text)                                                                 \
    {                                                                                                                  \
        .kind = CLI_KIND_NUMBER, .letter = l, .name = n, .value = v, .member = offsetof(S, m), .min = lo,            \
        .max = hi, .initial = first, .help = text                                                                     \
    }
#define CLI_CHOICE(l, n, v, S, m, first, text)                                                                         \
    {                                                                                                                  \
        .kind = CLI_KIND_CHOICE, .letter = l, .name = n, .value = v, .member = offsetof(S, m), .initial = first,       \
        .help = text                                                                                                   \
    }
#define CLI_STRING(l, n, v, S, m, text)                                                                                \
    { .kind = CLI_KIND_STRING, .letter = l, .name = n, .value = v, .member = offsetof(S, m), .help = text }
#define CLI_LIST(l, n, v, S, m, text)                                                                                  \
    { .kind = CLI_KIND_LIST, .letter = l, .name = n, .value = v, .member = offsetof(S, m), .help = text }

struct cli_item {
    const char *name; /* of the option it came from: two options may fill one list, in order */
    const char *value;
};

struct cli_list {
    struct cli_item *items;
    size_t count;
};

struct cli_group {
    const char *title;                      /* heading in help; NULL ends the list of groups */
    const struct cli_option *options;       /* ends with a zero row */
    size_t offset;                          /* of the group's struct in the command's */
    const struct cli_option *(*rows)(void); /* `options` NULL: a table that is made when it is needed */
};

/* Groups of a command: over the member `m` of its struct `S`, or over all of it. */
#define CLI_GROUP(name, table, S, m)                                                                                   \
    { .title = name, .options = table, .offset = offsetof(S, m) }
#define CLI_GROUP_ROWS(name, function, S, m)                                                                           \
    { .title = name, .rows = function, .offset = offsetof(S, m) }
#define CLI_OWN(name, table)                                                                                           \
    { .title = name, .options = table }

const struct cli_option *cli_group_rows(const struct cli_group *group);

/* Give every member its initial value; `options` is zero-filled. */
void cli_options_init(const struct cli_group *groups, void *options);

/* Parse argv[0 .. argc). Operands are moved to the front of argv (terminated by NULL when there is room,
 * as in main's argv). With `stop_at_operand` everything from the first operand on is operands.
 * Returns how many there are, or -1 after telling what is wrong. `*help` is set for -h and --help. */
int cli_options_parse(const struct cli_group *groups, void *options, int argc, char **argv, bool stop_at_operand,
                      bool *help);

/* Give up what lists hold. */
void cli_options_release(const struct cli_group *groups, void *options);

/* Whole text to a number, decimal or 0x; false when it is none or does not fit. */
bool cli_parse_number(const char *text, uint64_t *value);

/* Whether `word` is `meant` with at most two typing mistakes. */
bool cli_looks_like(const char *word, const char *meant);

/* Index of `text` (of this length) in "a|b|c", or -1. */
int cli_choice_find(const char *choices, const char *text, size_t length);

#endif

/* Option tables. A command declares its options in a table; the parser, the help text, the man page and the shell
 * completion are derived from it.
 *
 * Each command has a struct for the values of its options. A group is a table of options that set the members of one
 * part of that struct. Several commands can use the same group (stream options, output options). */
#ifndef CLI_OPTIONS_OPTIONS_H
#define CLI_OPTIONS_OPTIONS_H

#include "options/words.h"

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
    CLI_ARGUMENT_OPTIONAL,  /* LIST: --name or --name=VALUE; without a value, the value of the item is NULL. The next
                            * word is the value if it is one of the words of `value` */
    CLI_ARGUMENT_SWITCH,    /* LIST: --name (value NULL) or --no-name (value "off") */
};

struct cli_option {
    uint8_t kind;      /* enum cli_kind */
    uint8_t argument;  /* enum cli_argument */
    char letter;       /* short name, or 0 */
    const char *name;  /* long name without "--" */
    const char *value; /* placeholder of the value in help ("N", "FILE"); for a choice the names, "btm|htm" */
    size_t member;     /* offset of the member in the struct of the group */
    int64_t min, max; /* NUMBER: limits, inclusive */
    int64_t initial;  /* SET, NUMBER, CHOICE: value of the member if the option is not given */
    int64_t constant; /* SET */
    bool mebibytes;   /* NUMBER: N and NM are MiB, NG is GiB; the member is in MiB */
    bool as_text;     /* the member is const char * := the value as text, after checking it; NULL if not given */
    const char *text; /* SET with `as_text`: value of the member */
    const char *help; /* one phrase or sentence, without full stop; states unit and default */
};

/* Offset of a member whose type has the size of `type`; of another size, it does not compile. */
#define CLI_MEMBER(S, m, type) (offsetof(S, m) + 0 * sizeof(char[sizeof(((S *)0)->m) == sizeof(type) ? 1 : -1]))

/* Initializers of table rows. `l` letter, `n` name, `v` placeholder, `S` struct, `m` member, `first` initial value. */
#define CLI_SET(l, n, S, m, first, is, text)                                                                           \
    {.kind = CLI_KIND_SET,                                                                                             \
     .letter = l,                                                                                                      \
     .name = n,                                                                                                        \
     .member = CLI_MEMBER(S, m, int),                                                                                  \
     .initial = first,                                                                                                 \
     .constant = is,                                                                                                   \
     .help = text}
#define CLI_FLAG(l, n, S, m, text) CLI_SET(l, n, S, m, 0, 1, text)
#define CLI_NUMBER(l, n, v, S, m, lo, hi, first, text)                                                                 \
    {.kind = CLI_KIND_NUMBER,                                                                                          \
     .letter = l,                                                                                                      \
     .name = n,                                                                                                        \
     .value = v,                                                                                                       \
     .member = CLI_MEMBER(S, m, int64_t),                                                                              \
     .min = lo,                                                                                                        \
     .max = hi,                                                                                                        \
     .initial = first,                                                                                                 \
     .help = text}
#define CLI_MEBIBYTES(l, n, v, S, m, lo, hi, first, text)                                                              \
    {.kind = CLI_KIND_NUMBER,                                                                                          \
     .letter = l,                                                                                                      \
     .name = n,                                                                                                        \
     .value = v,                                                                                                       \
     .member = CLI_MEMBER(S, m, int64_t),                                                                              \
     .min = lo,                                                                                                        \
     .max = hi,                                                                                                        \
     .initial = first,                                                                                                 \
     .mebibytes = true,                                                                                                \
     .help = text}
#define CLI_CHOICE(l, n, v, S, m, first, text)                                                                         \
    {.kind = CLI_KIND_CHOICE,                                                                                          \
     .letter = l,                                                                                                      \
     .name = n,                                                                                                        \
     .value = v,                                                                                                       \
     .member = CLI_MEMBER(S, m, int),                                                                                  \
     .initial = first,                                                                                                 \
     .help = text}
#define CLI_STRING(l, n, v, S, m, text)                                                                                \
    {.kind = CLI_KIND_STRING, .letter = l, .name = n, .value = v, .member = offsetof(S, m), .help = text}
#define CLI_LIST(l, n, v, S, m, text)                                                                                  \
    {.kind = CLI_KIND_LIST, .letter = l, .name = n, .value = v, .member = offsetof(S, m), .help = text}

struct cli_item {
    const char *name; /* name of the option; several options may append to one list, in order */
    const char *value;
};

struct cli_list {
    struct cli_item *items;
    size_t count;
};

struct cli_group {
    const char *title;                      /* heading in help; NULL ends the list of groups */
    const struct cli_option *options;       /* ends with a zero row */
    size_t offset;                          /* offset of the struct of the group in the struct of the command */
    const struct cli_option *(*rows)(void); /* if `options` is NULL: returns the table */
};

/* Initializers of groups: for the member `m` of the struct `S` of the command, or (CLI_OWN) for the whole struct. */
#define CLI_GROUP(name, table, S, m)         {.title = name, .options = table, .offset = offsetof(S, m)}
#define CLI_GROUP_ROWS(name, function, S, m) {.title = name, .rows = function, .offset = offsetof(S, m)}
#define CLI_OWN(name, table)                 {.title = name, .options = table}

/* The first group of a command, and the one after `group`; NULL at the end. The last one is that of the options that
 * all commands have. */
const struct cli_group *cli_group_first(const struct cli_group *groups);
const struct cli_group *cli_group_next(const struct cli_group *group);

/* Returns the option table of a group. */
const struct cli_option *cli_group_rows(const struct cli_group *group);

/* Sets every member to its initial value. `options` must be zero-filled. */
void cli_options_init(const struct cli_group *groups, void *options);

enum cli_help { CLI_HELP_NONE, CLI_HELP_SCREEN, CLI_HELP_WHOLE };

/* What is parsed: the options of a command. */
struct cli_parse {
    const char *command; /* for names that only this command has (aliases.def) */
    const struct cli_group *groups;
    void *options; /* initialized */
};

/* Parses argv[0 .. argc) and sets the members of `options`. Operands are moved to the front of argv and terminated by
 * NULL; argv[argc] must be writable. With `stop_at_operand`, the first operand ends the options. Sets *help for -h and
 * --help, and then returns 0. Returns the number of operands, or -1 after reporting an error. String values point into
 * argv. */
int cli_options_parse(const struct cli_parse *parse, int argc, char **argv, bool stop_at_operand, enum cli_help *help);

/* Frees the lists in `options`. */
void cli_options_release(const struct cli_group *groups, void *options);

/* ---- Options -o and --format: destination and format of the output. */

enum cli_format { CLI_FORMAT_TEXT, CLI_FORMAT_JSONL, CLI_FORMAT_CSV, CLI_FORMAT_JSON };

/* In a command whose --format is text|jsonl|json: JSON is the third word. */
enum { CLI_FORMAT_THIRD_JSON = CLI_FORMAT_CSV };

/* Returns how rows are written: in a JSON document (io/document.h) as in JSON lines. */
static inline enum cli_format cli_format_of_rows(int format) {
    return format == CLI_FORMAT_JSON ? CLI_FORMAT_JSONL : (enum cli_format)format;
}

struct cli_result {
    const char *path;
    int format; /* enum cli_format; a command with other formats declares its own --format */
};

/* Returns the result with CLI_FORMAT_JSON for CLI_FORMAT_THIRD_JSON. */
static inline struct cli_result cli_result_of_third(struct cli_result result) {
    if (result.format == CLI_FORMAT_THIRD_JSON) result.format = CLI_FORMAT_JSON;
    return result;
}

extern const struct cli_option cli_result_options[]; /* --format text|jsonl|csv|json, -o */
extern const struct cli_option cli_path_options[];   /* -o alone */

/* ---- Description of a command, used by main.c, the help text, the man page and the shell completion.
 *
 * To add a command: add a line to commands/commands.def, define `const struct cli_command cli_<name>` in
 * commands/<name>.c, and add the file to cli/meson.build. */

struct cli_command {
    const char *operands;           /* operands in the usage line: "TRACE" */
    int min_operands, max_operands; /* number of operands; max_operands -1: unlimited */
    bool stop_at_operand;           /* the first operand ends the options (run: PROGRAM ARGS...) */
    const struct cli_group *groups; /* ends with a zero row */
    size_t size;                    /* size of the struct that holds the values of the options */
    /* `options` points to that struct; `operands` ends with NULL. Returns the exit status (diagnostics.h). */
    int (*run)(const void *options, char **operands);
    const char *about;    /* paragraphs, separated by blank lines; a line that starts with a blank is not wrapped */
    const char *examples; /* lines, not wrapped; or NULL */
    const char *next;     /* what people do next with the bundle, "report", or NULL (next.h) */
};

struct cli_entry {
    const char *name;
    const char *summary;
    const struct cli_command *command;
};

/* A heading of the overview: it stands before the command `first`. */
struct cli_task {
    const char *first, *title;
};

/* The headings in order; `first` of the last row is NULL. main() sets it. */
extern const struct cli_task *cli_tasks;

/* All commands in the order of commands.def; the name of the last row is NULL. main() sets it: the commands use the
 * table, and the table names the commands. */
extern const struct cli_entry *cli_commands;

/* Returns the command `name`, or NULL. */
const struct cli_entry *cli_find_command(const char *name);

/* Returns whether there is a command of this name, or one that was called so before (aliases.def). */
bool cli_is_command(const char *name);

/* Runs the command words[0], for which cli_is_command is true, with the options and operands after it; `words` ends
 * with NULL. Returns the exit status. */
int cli_run_words(char **words);

/* Parses the options and operands argv[0 .. argc) and runs the command. argv[argc] must be writable. Returns the exit
 * status. */
int cli_run_command(const struct cli_entry *entry, int argc, char **argv);

#endif

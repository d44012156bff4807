#include "options/options.h"
#include "options/aliases.h"
#include "options/diagnostics.h"
#include "options/limits.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- options of all commands */

static struct cli_common {
    struct cli_list limits;
} common;

static const struct cli_option common_options[] = {
    CLI_LIST(0, "limit", "NAME=VALUE", struct cli_common, limits,
             "take at most VALUE of NAME from one input (repeatable; 'ntrace help limits' lists the names)"),
    {0},
};

static const struct cli_group common_groups[] = {{.title = "limits", .options = common_options}, {0}};

const struct cli_group *cli_group_first(const struct cli_group *groups) {
    return groups->title ? groups : common_groups;
}

const struct cli_group *cli_group_next(const struct cli_group *group) {
    if (group == common_groups) return NULL;
    return cli_group_first(group + 1);
}

static bool apply_limits(void) {
    for (size_t i = 0; i < common.limits.count; i++)
        if (!cli_limit_set(common.limits.items[i].value)) return false;
    return true;
}

/* ---- */

/* An option, the struct that holds its member, and the spelling on the command line. */
struct slot {
    const struct cli_option *option; /* NULL: no such option */
    void *base;
    char spelled[64];
};

static void *slot_member(const struct slot *slot) {
    return (char *)slot->base + slot->option->member;
}

const struct cli_option *cli_group_rows(const struct cli_group *group) {
    return group->options ? group->options : group->rows();
}

/* Iterator over all options of all groups. At the end slot->option is NULL. */
struct option_walk {
    const struct cli_group *group;
    const struct cli_option *option;
};

static bool walk_next(struct option_walk *walk, void *options, struct slot *slot) {
    if (walk->option) walk->option++;
    while (walk->group) {
        if (!walk->option) walk->option = cli_group_rows(walk->group);
        if (walk->option->kind != CLI_END) {
            slot->option = walk->option;
            slot->base = walk->group == common_groups ? (char *)&common : (char *)options + walk->group->offset;
            return true;
        }
        walk->group = cli_group_next(walk->group);
        walk->option = NULL;
    }
    slot->option = NULL;
    return false;
}

void cli_options_init(const struct cli_group *groups, void *options) {
    struct option_walk walk = {cli_group_first(groups), NULL};
    struct slot slot;

    while (walk_next(&walk, options, &slot)) {
        if (slot.option->as_text) continue;
        switch (slot.option->kind) {
        case CLI_KIND_SET:
        case CLI_KIND_CHOICE: *(int *)slot_member(&slot) = (int)slot.option->initial; break;
        case CLI_KIND_NUMBER: *(int64_t *)slot_member(&slot) = slot.option->initial; break;
        default: break;
        }
    }
}

void cli_options_release(const struct cli_group *groups, void *options) {
    struct option_walk walk = {cli_group_first(groups), NULL};
    struct slot slot;

    while (walk_next(&walk, options, &slot)) {
        if (slot.option->kind != CLI_KIND_LIST) continue;
        struct cli_list *list = slot_member(&slot);
        free(list->items);
        *list = (struct cli_list){NULL, 0}; /* several options may share this list */
    }
}

static void find_long(const struct cli_group *groups, void *options, const char *name, size_t length,
                      struct slot *slot) {
    struct option_walk walk = {cli_group_first(groups), NULL};

    while (walk_next(&walk, options, slot)) {
        if (strlen(slot->option->name) == length && memcmp(slot->option->name, name, length) == 0) return;
    }
}

static void find_letter(const struct cli_group *groups, void *options, char letter, struct slot *slot) {
    struct option_walk walk = {cli_group_first(groups), NULL};

    while (walk_next(&walk, options, slot)) {
        if (slot->option->letter == letter) return;
    }
}

/* Functions that set a member, by kind of option. They return false after reporting an error. */

/* "4", "4M" and "4MiB" are 4; "4G" and "4GiB" are 4096. */
static bool parse_mebibytes(const char *text, uint64_t *value) {
    char digits[24];
    const size_t length = strspn(text, "0123456789");
    const char *unit = text + length;
    const bool giga = *unit == 'G';

    if (length >= sizeof digits) return false;
    if (*unit && !giga && *unit != 'M') return false;
    if (*unit && unit[1] && strcmp(unit + 1, "iB") != 0) return false;
    memcpy(digits, text, length);
    digits[length] = 0;
    if (!cli_parse_number(digits, value) || (giga && *value > UINT64_MAX >> 10)) return false;
    if (giga) *value <<= 10;
    return true;
}

static bool set_number(const struct slot *slot, const char *text) {
    const struct cli_option *o = slot->option;
    uint64_t value;

    if (!(o->mebibytes ? parse_mebibytes : cli_parse_number)(text, &value) || value > INT64_MAX ||
        (int64_t)value < o->min || (int64_t)value > o->max) {
        if (o->max == INT64_MAX)
            cli_note("%s: expected a number of at least %" PRId64 ", found '%s'", slot->spelled, o->min, text);
        else
            cli_note("%s: expected a number from %" PRId64 " to %" PRId64 ", found '%s'", slot->spelled, o->min, o->max,
                     text);
        return false;
    }
    if (o->as_text)
        *(const char **)slot_member(slot) = text;
    else
        *(int64_t *)slot_member(slot) = (int64_t)value;
    return true;
}

static bool set_choice(const struct slot *slot, const char *text) {
    int index = cli_choice_find(slot->option->value, text, strlen(text));

    if (index < 0) {
        const char *near = cli_choice_near(slot->option->value, text);
        cli_note("%s: expected one of %s, found '%s'%s%.*s%s", slot->spelled, slot->option->value, text,
                 near ? "; did you mean '" : "", near ? (int)strcspn(near, "|") : 0, near ? near : "",
                 near ? "'?" : "");
        return false;
    }
    if (slot->option->as_text)
        *(const char **)slot_member(slot) = text;
    else
        *(int *)slot_member(slot) = index;
    return true;
}

static bool append(const struct slot *slot, const char *text) {
    struct cli_list *list = slot_member(slot);
    struct cli_item *items = realloc(list->items, (list->count + 1) * sizeof *items);

    if (!items) {
        cli_note("out of memory");
        return false;
    }
    items[list->count] = (struct cli_item){slot->option->name, text};
    list->items = items;
    list->count++;
    return true;
}

static bool set_value(const struct slot *slot, const char *text) {
    switch (slot->option->kind) {
    case CLI_KIND_NUMBER: return set_number(slot, text);
    case CLI_KIND_CHOICE: return set_choice(slot, text);
    case CLI_KIND_LIST: return append(slot, text);
    default: *(const char **)slot_member(slot) = text; return true;
    }
}

static void report_unknown(const struct cli_group *groups, void *options, const char *argument) {
    struct option_walk walk = {cli_group_first(groups), NULL};
    struct slot slot;
    char name[64];
    size_t length = strcspn(argument, "=");

    if (argument[1] == '-' && length - 2 < sizeof name) {
        memcpy(name, argument + 2, length - 2);
        name[length - 2] = 0;
        while (walk_next(&walk, options, &slot)) {
            if (!cli_looks_like(name, slot.option->name)) continue;
            cli_note("unknown option '%.*s'; did you mean '--%s'?", (int)length, argument, slot.option->name);
            return;
        }
    }
    cli_note("unknown option '%.*s'", (int)length, argument);
}

/* One option of the command line. */
struct given {
    struct slot slot;
    const char *value; /* value in the same argument (--name=VALUE, -nVALUE), or NULL */
    bool negated;      /* --no-name */
};

/* The words of a choice; NULL: the option is no choice. */
static const char *words_of(const struct cli_option *o) {
    return o->kind == CLI_KIND_CHOICE ? o->value : NULL;
}

/* Looks up a long name: first the aliases that depend on the value, then the names, then the other aliases. */
static void find_name(const struct cli_parse *parse, const char *name, size_t length, const char *value,
                      struct slot *slot) {
    static const bool asks[] = {true, false};
    const struct cli_alias *alias;

    for (size_t pass = 0; pass < sizeof asks / sizeof asks[0]; pass++) {
        for (size_t i = 0; (alias = cli_alias_next(&i, parse->command, name, length));) {
            if ((alias->when != CLI_ALIAS_ANY) != asks[pass]) continue;
            find_long(parse->groups, parse->options, alias->name, strlen(alias->name), slot);
            if (slot->option && cli_alias_applies(alias, words_of(slot->option), value)) return;
        }
        if (!asks[pass]) break;
        find_long(parse->groups, parse->options, name, length, slot);
        if (slot->option) return;
    }
    slot->option = NULL;
}

static void find_given(const struct cli_parse *parse, char **argv, struct given *given) {
    const struct cli_group *groups = parse->groups;
    void *options = parse->options;
    const char *argument = argv[0];
    size_t length = 2;

    if (argument[1] == '-') {
        length += strcspn(argument + 2, "=");
        find_name(parse, argument + 2, length - 2, argument[length] ? argument + length + 1 : argv[1], &given->slot);
        if (!given->slot.option && strncmp(argument, "--no-", 5) == 0) {
            find_name(parse, argument + 5, length - 5, NULL, &given->slot);
            given->negated = true;
            if (given->slot.option && given->slot.option->argument != CLI_ARGUMENT_SWITCH) given->slot.option = NULL;
        }
        if (argument[length]) given->value = argument + length + 1;
    } else {
        find_letter(groups, options, argument[1], &given->slot);
        if (argument[2]) given->value = argument + 2;
    }
    snprintf(given->slot.spelled, sizeof given->slot.spelled, "%.*s", (int)length, argument);
}

/* Sets an option that takes no value. */
static bool set_switch(const struct given *given) {
    const struct slot *slot = &given->slot;

    if (given->value) {
        cli_note("%s takes no value", slot->spelled);
        return false;
    }
    if (slot->option->kind == CLI_KIND_LIST) return append(slot, given->negated ? "off" : NULL);
    if (slot->option->as_text)
        *(const char **)slot_member(slot) = slot->option->text;
    else
        *(int *)slot_member(slot) = (int)slot->option->constant;
    return true;
}

/* An option that once had words and now names a file: a word with a typing error is not written to as a file. */
static bool is_mistyped_word(const struct cli_parse *parse, const struct given *given, char **argv) {
    const char *value = given->value ? given->value : argv[1], *name = given->slot.option->name;
    const struct cli_alias *alias;
    struct slot slot;

    if (argv[0][1] != '-' || given->slot.option->letter != 'o' || !value || strpbrk(value, "./")) return false;
    for (size_t i = 0; (alias = cli_alias_next(&i, parse->command, name, strlen(name)));) {
        if (alias->when != CLI_ALIAS_WORD) continue;
        find_long(parse->groups, parse->options, alias->name, strlen(alias->name), &slot);
        const char *near =
            slot.option && slot.option->kind == CLI_KIND_CHOICE ? cli_choice_near(slot.option->value, value) : NULL;
        if (!near) continue;
        cli_note("%s: expected a file, found '%s'; did you mean '--%s %.*s'? A file of this name is ./%s",
                 given->slot.spelled, value, alias->name, (int)strcspn(near, "|"), near, value);
        return true;
    }
    return false;
}

/* Parses the option argv[0], which starts with '-'. Returns the number of arguments used, or 0 after reporting an
 * error. */
static int parse_one(const struct cli_parse *parse, char **argv) {
    struct given given = {0};

    find_given(parse, argv, &given);
    if (!given.slot.option) {
        report_unknown(parse->groups, parse->options, argv[0]);
        return 0;
    }
    if (is_mistyped_word(parse, &given, argv)) return 0;
    const struct cli_option *o = given.slot.option;
    if (o->kind == CLI_KIND_SET || o->argument == CLI_ARGUMENT_SWITCH) return set_switch(&given) ? 1 : 0;
    if (o->argument == CLI_ARGUMENT_OPTIONAL) {
        bool next = !given.value && argv[1] && *argv[1] && cli_choice_find(o->value, argv[1], strlen(argv[1])) >= 0;
        return append(&given.slot, next ? argv[1] : given.value) ? 1 + next : 0;
    }
    if (given.value) return set_value(&given.slot, given.value) ? 1 : 0;
    if (!argv[1]) {
        cli_note("%s requires a value (%s)", given.slot.spelled, o->value);
        return 0;
    }
    return set_value(&given.slot, argv[1]) ? 2 : 0;
}

int cli_options_parse(const struct cli_parse *parse, int argc, char **argv, bool stop_at_operand, enum cli_help *help) {
    int operands = 0, at = 0;

    *help = CLI_HELP_NONE;
    while (at < argc) {
        const char *argument = argv[at];
        if (strcmp(argument, "--") == 0) {
            at++;
            break;
        }
        if (argument[0] != '-' || argument[1] == 0) {
            if (stop_at_operand) break;
            argv[operands++] = argv[at++];
            continue;
        }
        if (strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0) {
            *help = argument[1] == '-' ? CLI_HELP_WHOLE : CLI_HELP_SCREEN;
            return 0;
        }
        int used = parse_one(parse, argv + at);
        if (used == 0) return -1;
        at += used;
    }
    while (at < argc) argv[operands++] = argv[at++];
    argv[operands] = NULL;
    return apply_limits() ? operands : -1;
}

/* ---- the table of commands */

const struct cli_entry *cli_commands;
const struct cli_task *cli_tasks;

const struct cli_entry *cli_find_command(const char *name) {
    for (const struct cli_entry *e = cli_commands; e->name; e++) {
        if (strcmp(e->name, name) == 0) return e;
    }
    return NULL;
}

/* ---- options of several commands */

const struct cli_option cli_result_options[] = {
    CLI_CHOICE(0, "format", "text|jsonl|csv|json", struct cli_result, format, CLI_FORMAT_TEXT,
               "output format: text (default), JSON lines, CSV, or JSON: one document with the rows and their quality"),
    CLI_STRING('o', "output", "FILE", struct cli_result, path, "write to FILE (default: standard output)"),
    {0},
};

const struct cli_option cli_path_options[] = {
    CLI_STRING('o', "output", "FILE", struct cli_result, path, "write to FILE (default: standard output)"),
    {0},
};

#include "options/next.h"
#include "options/diagnostics.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool is_bundle(const char *path) {
    char file[PATH_MAX];
    const int length = snprintf(file, sizeof file, "%s/capture.json", path);

    return length > 0 && (size_t)length < sizeof file && access(file, R_OK) == 0;
}

/* Returns whether an option selects another form than text: --format WORD or --to FORMAT. */
static bool has_form(const struct cli_group *group, const void *options) {
    for (const struct cli_option *o = cli_group_rows(group); o->kind != CLI_END; o++) {
        const char *member = (const char *)options + group->offset + o->member;
        if (strcmp(o->name, "format") == 0 && o->kind == CLI_KIND_CHOICE && *(const int *)(const void *)member)
            return true;
        if (o->kind == CLI_KIND_STRING && strcmp(o->name, "to") == 0 && *(const char *const *)(const void *)member)
            return true;
        if (o->kind == CLI_KIND_STRING && strcmp(o->name, "partial") == 0 && *(const char *const *)(const void *)member)
            return true;
    }
    return false;
}

/* ---- the options of a stream */

struct next_line {
    char text[4096];
    size_t size;
    bool cut;
};

/* Adds a word, as a shell reads it. Of a word with a quote there is no line. */
static void add_word(struct next_line *line, const char *before, const char *word) {
    const bool plain = !strpbrk(word, " \t'\"$&|;<>()*?[]\\`!#~");
    const size_t room = sizeof line->text - line->size;
    const int size =
        snprintf(line->text + line->size, room, "%s%s%s%s", before, plain ? "" : "'", word, plain ? "" : "'");

    line->cut |= size < 0 || (size_t)size >= room || strchr(word, '\'') != NULL;
    if (!line->cut) line->size += (size_t)size;
}

static void add_option(struct next_line *line, const struct cli_option *o, const char *value) {
    add_word(line, o->letter && value ? " -" : " --", o->letter && value ? (char[]){o->letter, 0} : o->name);
    if (value) add_word(line, " ", value);
}

/* Adds the option as it was given, if it was. */
static void add_given(struct next_line *line, const struct cli_option *o, const char *member) {
    const struct cli_list *list = (const void *)member;
    const char *text = NULL;

    switch ((enum cli_kind)o->kind) {
    case CLI_KIND_LIST:
        for (size_t i = 0; i < list->count; i++)
            if (strcmp(list->items[i].name, o->name) == 0) add_option(line, o, list->items[i].value);
        return;
    case CLI_KIND_STRING: text = *(const char *const *)(const void *)member; break;
    case CLI_KIND_NUMBER:
        if (o->as_text) text = *(const char *const *)(const void *)member;
        break;
    case CLI_KIND_CHOICE:
        if (o->as_text) text = *(const char *const *)(const void *)member;
        break;
    case CLI_KIND_SET:
        if (!o->as_text) break;
        text = *(const char *const *)(const void *)member;
        if (text && strcmp(text, o->text) == 0) add_option(line, o, NULL);
        return;
    case CLI_END: break;
    }
    if (text) add_option(line, o, text);
}

static const struct cli_group *find_group(const struct cli_command *command, const char *title) {
    for (const struct cli_group *group = command->groups; group->title; group++)
        if (strcmp(group->title, title) == 0) return group;
    return NULL;
}

/* Adds what the group says about the stream and its program. Returns whether anything was given. */
static bool add_group(struct next_line *line, const struct cli_command *command, const void *options,
                      const char *title) {
    const struct cli_group *group = find_group(command, title);
    const size_t before = line->size;

    for (const struct cli_option *o = group ? cli_group_rows(group) : NULL; o && o->kind != CLI_END; o++)
        add_given(line, o, (const char *)options + group->offset + o->member);
    return line->size != before;
}

/* A stream: the next command needs its program and its parameters, too. */
static void next_of_stream(const struct cli_command *command, const void *options, const char *path) {
    struct next_line line = {.size = 0};
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(command->next, " "), command->next);
    const struct cli_entry *next = cli_find_command(name);

    if (!next || !find_group(next->command, "program") || !find_group(next->command, "stream")) return;
    add_word(&line, " ", path);
    if (!add_group(&line, command, options, "program")) return; /* nothing can be decoded */
    add_group(&line, command, options, "stream");
    if (!line.cut) cli_note("next: ntrace %s%s", command->next, line.text);
}

void cli_next_step(const struct cli_command *command, const void *options, char **operands) {
    if (!command->next || !operands[0] || !isatty(STDOUT_FILENO) || !isatty(STDERR_FILENO)) return;
    for (const struct cli_group *group = command->groups; group->title; group++)
        if (has_form(group, options)) return;
    if (!is_bundle(operands[0])) {
        if (strcmp(operands[0], "-") != 0 && !operands[1]) next_of_stream(command, options, operands[0]);
        return;
    }
    const bool plain = !strpbrk(operands[0], " \t'\"$&|;<>()*?[]\\`!");
    cli_note("next: ntrace %s %s%s%s", command->next, plain ? "" : "'", operands[0], plain ? "" : "'");
}

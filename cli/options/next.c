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

void cli_next_step(const struct cli_command *command, const void *options, char **operands) {
    if (!command->next || !operands[0] || !isatty(STDOUT_FILENO) || !isatty(STDERR_FILENO)) return;
    for (const struct cli_group *group = command->groups; group->title; group++)
        if (has_form(group, options)) return;
    if (!is_bundle(operands[0])) return;
    const bool plain = !strpbrk(operands[0], " \t'\"$&|;<>()*?[]\\`!");
    cli_note("next: ntrace %s %s%s%s", command->next, plain ? "" : "'", operands[0], plain ? "" : "'");
}

#include "commands/coverage/builds.h"

#include "io/digest.h"
#include "options/diagnostics.h"

#include <ntrace/bundle.h>
#include <stdlib.h>
#include <string.h>

enum { IDENTIFIER_MAX = 2 * 64 + 1 };

/* A file. Several of one trace may have the same name. */
struct cli_build {
    char *name; /* without folders */
    char id[IDENTIFIER_MAX]; /* the build id; of a file without one, its digest */
    bool has_build_id;
    size_t trace;
    size_t others; /* traces with another build */
};

/* Returns the file with this identifier in the first trace that has one of this name; otherwise, if it is a trace
 * before this one, its first file of this name, and otherwise NULL. */
static struct cli_build *find(const struct cli_builds *builds, const struct cli_build *file) {
    struct cli_build *other = NULL;
    for (size_t i = builds->count; i-- > 0;) {
        struct cli_build *at = &builds->items[i];
        if (strcmp(at->name, file->name) != 0) continue;
        if (strcmp(at->id, file->id) == 0) return at;
        if (at->trace < file->trace) other = at;
    }
    return other;
}

static int add_file(struct cli_builds *builds, const char *name, const char *path) {
    struct cli_build file = {.trace = builds->traces};
    const char *slash = strrchr(name, '/');

    if (ntr_bundle_build_id(path, file.id, sizeof file.id) != NTR_OK) return CLI_OK; /* reported when it was opened */
    file.has_build_id = *file.id;
    if (!file.has_build_id) cli_digest_file(path, file.id);
    file.name = strdup(slash ? slash + 1 : name);
    struct cli_build *known = file.name ? find(builds, &file) : NULL;
    if (known) {
        known->others += strcmp(known->id, file.id) != 0;
        free(file.name);
        return CLI_OK;
    }
    if (file.name && builds->count == builds->capacity) {
        const size_t wanted = builds->capacity ? 2 * builds->capacity : 8;
        void *grown = realloc(builds->items, wanted * sizeof *builds->items);
        if (grown) {
            builds->items = grown;
            builds->capacity = wanted;
        }
    }
    if (!file.name || builds->count == builds->capacity) {
        free(file.name);
        return CLI_FAILED;
    }
    builds->items[builds->count++] = file;
    return CLI_OK;
}

int cli_builds_add(struct cli_builds *builds, const ntr_program *program) {
    ntr_image_info info;

    builds->traces++;
    for (size_t i = 0; ntr_program_image(program, i, &info) == NTR_OK; i++)
        if (info.path && info.name && add_file(builds, info.name, info.path) != CLI_OK) return CLI_FAILED;
    return CLI_OK;
}

void cli_builds_report(const struct cli_builds *builds) {
    for (size_t i = 0; i < builds->count; i++) {
        const struct cli_build *build = &builds->items[i];
        if (build->others)
            cli_note("%zu traces are of another build of %s than the first one (%s %s)", build->others, build->name,
                     build->has_build_id ? "build id" : "SHA-256", *build->id ? build->id : "unknown");
    }
}

void cli_builds_release(struct cli_builds *builds) {
    for (size_t i = 0; i < builds->count; i++) free(builds->items[i].name);
    free(builds->items);
    *builds = (struct cli_builds){0};
}

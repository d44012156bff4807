/* The idea: two builds of a program share functions of a source file. Names of functions alone do not say it: programs
 * that are linked statically, or of one language, have those of its library in common. */
#include "text/relation.h"

#include <string.h>

/* Functions of files whose sources are known, and instructions in functions that one side does not have. */
struct shared {
    uint64_t both, only[2];
    uint64_t alone[2];
    bool main_moved; /* `main` is of another file */
    bool main_alone; /* `main` is the only one in both */
};

static const char *base(const char *path) {
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static bool is_main(const char *name) {
    return strcmp(name, "main") == 0 || strcmp(name, "main.main") == 0 || strcmp(name, "MAIN__") == 0;
}

static struct shared count(const ntr_cost_changes *x) {
    struct shared s = {0};

    for (size_t i = 0; i < x->function_count; i++) {
        const ntr_cost_function *f = &x->functions[i];
        if (f->match == NTR_COST_UNNAMED) continue;
        const bool shared = f->present == 3 && f->file[0] && f->file[1];
        s.main_alone = shared ? !s.both && is_main(f->name) : s.main_alone;
        s.both += shared;
        for (unsigned k = 0; k < 2; k++) {
            if (f->present != 1u << k) continue;
            s.only[k] += f->file[k] != NULL;
            s.alone[k] += f->self[k];
        }
        s.main_moved |= f->match == NTR_COST_FILE && is_main(f->name);
    }
    return s;
}

/* Returns the pair of images whose names differ, or NULL. */
static const ntr_cost_image *renamed(const ntr_cost_changes *x) {
    for (size_t i = 0; i < x->image_count; i++) {
        const ntr_cost_image *image = &x->images[i];
        if (image->name[0] && image->name[1] && strcmp(base(image->name[0]), base(image->name[1])) != 0) return image;
    }
    return NULL;
}

enum cli_relation cli_relation_of(const ntr_cost_changes *x, struct cli_relation_why *why) {
    const ntr_cost_image *image = renamed(x);
    const struct shared s = count(x);
    const bool most = 2 * s.alone[0] > x->instructions[0] && 2 * s.alone[1] > x->instructions[1];

    *why = (struct cli_relation_why){{NULL}, NULL};
    for (unsigned k = 0; image && k < 2; k++) why->names[k] = base(image->name[k]);
    if (!s.both && s.only[0] && s.only[1])
        why->reason = "no function of a source file is in both";
    else if (most && (image || !s.both))
        why->reason = "most instructions of each are in functions that the other one does not have";
    else if (image && s.main_moved)
        why->reason = "their main is not of one source file";
    if (why->reason) return CLI_OTHER_PROGRAM;
    /* Many programs have one name and a file of one name: a.out, main.c. */
    if (s.main_alone && s.only[0] && s.only[1]) {
        why->reason = "main is the only function of a source file that is in both";
        return CLI_PROGRAM_UNKNOWN;
    }
    return image && !s.both ? CLI_PROGRAM_UNKNOWN : CLI_SAME_PROGRAM;
}

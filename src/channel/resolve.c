#include "channel/resolve.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINKS = 16 };

/* ---- names --------------------------------------------------------------------------------------------------------
 */

static bool print(char *out, const char *a, const char *b) {
    int n = snprintf(out, PATH_MAX, "%s%s", a, b);
    return n > 0 && n < PATH_MAX;
}

/* A symbolic link at the end of a path below the root: an absolute target is below the root as well, if it exists
 * there. Returns false when the path is no link. */
static bool follow_link(const char *root, char *path) {
    char target[PATH_MAX], next[PATH_MAX];
    struct stat about;

    ssize_t n = readlink(path, target, sizeof target - 1);
    if (n <= 0) return false;
    target[n] = 0;
    char *slash = strrchr(path, '/');
    if (*target == '/') {
        if (!print(next, root, target) || lstat(next, &about)) return false;
    } else {
        slash[1] = 0;
        if (!print(next, path, target)) return false;
    }
    memcpy(path, next, strlen(next) + 1);
    return true;
}

/* The file that QEMU opens under this name of the guest. */
static bool locate(const char *root, const char *name, char *path) {
    struct stat about;

    if (root && *name == '/' && print(path, root, name) && lstat(path, &about) == 0) {
        for (int i = 0; i < LINKS && follow_link(root, path); i++) continue;
        if (stat(path, &about) == 0) return true;
    }
    return print(path, name, "");
}

/* ---- files --------------------------------------------------------------------------------------------------------
 */

/* Type, machine and version are at the same place in both classes. */
static bool read_elf(int file, const unsigned char *head, ssize_t size, struct channel_program *program) {
    Elf64_Ehdr wide;
    Elf32_Ehdr narrow;

    program->is_64 = head[EI_CLASS] == ELFCLASS64;
    if (size < (ssize_t)sizeof wide || head[EI_DATA] != ELFDATA2LSB) return false;
    memcpy(&wide, head, sizeof wide);
    memcpy(&narrow, head, sizeof narrow);
    if (wide.e_machine != EM_RISCV || (wide.e_type != ET_EXEC && wide.e_type != ET_DYN)) return false;
    unsigned count = program->is_64 ? wide.e_phnum : narrow.e_phnum;
    unsigned step = program->is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
    uint64_t at = program->is_64 ? wide.e_phoff : narrow.e_phoff;
    program->is_dynamic = false;
    for (unsigned i = 0; i < count; i++) {
        uint32_t type; /* the first member of both program headers */
        if (pread(file, &type, sizeof type, (off_t)(at + (uint64_t)i * step)) != sizeof type) return false;
        program->is_dynamic |= type == PT_INTERP;
    }
    return true;
}

/* "#! INTERPRETER [ARGUMENT]" in place: the words become strings. Returns how many there are. */
static unsigned split_line(char *line, const char *words[2]) {
    char *at = line + 2, *end = line + strcspn(line, "\n");

    *end = 0;
    while (end > at && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r')) *--end = 0;
    at += strspn(at, " \t");
    if (!*at) return 0;
    words[0] = at;
    at += strcspn(at, " \t");
    if (!*at) return 1;
    *at++ = 0;
    words[1] = at + strspn(at, " \t");
    return 2;
}

/* Put the words of a first line and the name of the script in front of the arguments that are there: the name of that
 * interpreter's own script replaces the interpreter. */
static void put_words(struct channel_program *program, const char *const *words, unsigned count, const char *script) {
    unsigned keep = program->count ? program->count - 1 : 0;

    memmove(program->words + count + 1, program->words + (program->count - keep), keep * sizeof *program->words);
    for (unsigned i = 0; i < count; i++) program->words[i] = words[i];
    program->words[count] = script;
    program->count = count + 1 + keep;
}

/* Returns 0 with *next NULL for a program, or with the interpreter of a script. */
static int examine(const char *path, char line[CHANNEL_LINE], struct channel_program *program, const char *script,
                   const char **next) {
    const char *words[2];
    struct stat about;

    *next = NULL;
    if (stat(path, &about)) return errno;
    if (!S_ISREG(about.st_mode) || access(path, X_OK)) return EACCES;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return errno;
    memset(line, 0, CHANNEL_LINE);
    ssize_t n = read(file, line, CHANNEL_LINE - 1);
    bool is_program =
        n > EI_NIDENT && memcmp(line, ELFMAG, SELFMAG) == 0 && read_elf(file, (unsigned char *)line, n, program);
    close(file);
    if (is_program) return 0;
    unsigned count = n > 2 && memcmp(line, "#!", 2) == 0 ? split_line(line, words) : 0;
    if (!count) return ENOEXEC;
    put_words(program, words, count, script);
    *next = words[0];
    return 0;
}

/* "#!/usr/bin/env NAME" where the root has no `env`: NAME itself is the interpreter. Returns it, or NULL. */
static const char *without_env(const char *root, const char *file, struct channel_program *program) {
    static const char *const folders[] = {"/usr/local/bin/", "/usr/bin/", "/bin/"};
    const char *slash = strrchr(file, '/');

    if (!slash || strcmp(slash, "/env") != 0 || program->count != 3 || strpbrk(program->words[1], "-= /")) return NULL;
    for (size_t i = 0; root && i < sizeof folders / sizeof folders[0]; i++) {
        struct stat about;
        if (!print(program->behind_env, folders[i], program->words[1]) ||
            !locate(root, program->behind_env, program->path) || stat(program->path, &about))
            continue;
        memmove(program->words, program->words + 1, 2 * sizeof *program->words);
        program->count = 2;
        return program->behind_env;
    }
    return NULL;
}

int ntr_channel_resolve(const char *root, const char *name, struct channel_program *program) {
    const char *file = program->name;

    program->count = 0;
    if (!print(program->name, name, "")) return ENAMETOOLONG;
    for (unsigned i = 0; i < CHANNEL_SCRIPTS; i++) {
        const char *next;
        if (!locate(root, file, program->path)) return ENAMETOOLONG;
        int failed = examine(program->path, program->lines[i], program, file, &next);
        if (failed) next = without_env(root, file, program);
        if (!next) return failed;
        file = next;
    }
    return ELOOP;
}

/* Looks for the name in the folders of `search`; `below`: only where the file is below this root. */
static int resolve_in_folders(const char *root, const char *below, const char *search, const char *name,
                              struct channel_program *program) {
    int found = ENOENT;

    for (const char *at = search; at && found;) {
        char path[PATH_MAX], there[PATH_MAX];
        struct stat about;
        size_t length = strcspn(at, ":");
        int n = snprintf(path, sizeof path, "%.*s%s%s", (int)length, at, length ? "/" : "./", name);
        bool is_path = n > 0 && n < PATH_MAX;
        if (is_path && below) is_path = *path == '/' && print(there, below, path) && lstat(there, &about) == 0;
        if (is_path) found = ntr_channel_resolve(root, path, program);
        at = at[length] ? at + length + 1 : NULL;
    }
    return found;
}

/* A script of the host can be resolved, too: what is below the root comes first. */
int ntr_channel_resolve_in(const char *root, const char *search, const char *name, struct channel_program *program) {
    int found = ENOENT;

    if (root) found = resolve_in_folders(root, root, search, name, program);
    if (root && found) found = resolve_in_folders(root, root, "/usr/local/bin:/usr/bin:/bin", name, program);
    return found ? resolve_in_folders(root, NULL, search, name, program) : 0;
}

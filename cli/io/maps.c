#include "io/maps.h"
#include "io/debug_files.h"
#include "io/atomic_file.h"
#include "io/input.h"
#include "io/memory.h"
#include "options/diagnostics.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAPPED_PAGE = 4096 };

/* Reads a number, after blanks, and moves *at behind it. */
static bool take_number(char **at, int base, uint64_t *value) {
    char *from = *at + strspn(*at, " \t"), *end;

    if (!isxdigit((unsigned char)*from)) return false;
    *value = strtoull(from, &end, base);
    const bool any = end != from;
    *at = end;
    return any;
}

static char *take_word(char **at) {
    char *word = *at + strspn(*at, " \t");

    *at = word + strcspn(word, " \t\r");
    return word;
}

/* ---- threads: the lines PID TID NAME of `ps -eLo pid,tid,comm` */

struct thread {
    uint32_t pid, tid;
    const char *name; /* ends with its line */
};

struct threads {
    char *text;
    struct thread *list;
    size_t count;
};

static void release_threads(struct threads *t) {
    free(t->text);
    free(t->list);
}

static bool add_thread(struct threads *t, struct thread one) {
    if ((t->count & (t->count - 1)) == 0) {
        struct thread *grown = realloc(t->list, (t->count ? 2 * t->count : 1) * sizeof *grown);
        if (!grown) return false;
        t->list = grown;
    }
    t->list[t->count++] = one;
    return true;
}

static int read_threads(const char *path, struct threads *t) {
    size_t size, line = 0;

    t->text = cli_input_limited(path, CLI_LIMIT_MAPS, &size);
    if (!t->text) return CLI_FAILED;
    for (char *at = t->text, *next; at && *at; at = next) {
        uint64_t pid, tid;
        char *rest = at;
        line++;
        next = strchr(at, '\n');
        if (next) *next++ = 0;
        if (!take_number(&rest, 10, &pid) || !take_number(&rest, 10, &tid) || pid > INT32_MAX || tid > INT32_MAX) {
            if (line == 1 || !at[strspn(at, " \t\r")]) continue; /* the heading */
            return cli_fail("%s: line %zu: expected PID TID NAME, found '%.60s'", path, line, at);
        }
        rest += strspn(rest, " \t");
        if (!add_thread(t, (struct thread){(uint32_t)pid, (uint32_t)tid, rest})) return cli_fail("out of memory");
    }
    return CLI_OK;
}

/* ---- mappings */

struct map_binding {
    const char *sysroot;
    ntr_program *program;
    struct threads threads;
    uint32_t pid;
};

static const char *name_of(const struct threads *t, uint32_t tid) {
    for (size_t i = 0; i < t->count; i++)
        if (t->list[i].tid == tid) return t->list[i].name;
    return "";
}

static int add_for_thread(const struct map_binding *b, uint32_t tid, const char *file, const char *shown,
                          uint64_t bias) {
    const char *name = name_of(&b->threads, b->pid);
    char text[PATH_MAX + 128];
    ntr_image_options o;

    ntr_image_options_init(&o);
    o.has_scontext = true;
    o.scontext = tid;
    o.bias = bias;
    snprintf(text, sizeof text, "%s [%s%s%" PRIu32 "]", shown, name, *name ? " " : "", b->pid);
    o.name = text;
    if (ntr_program_add_elf(b->program, file, &o) == NTR_OK) return CLI_OK;
    return cli_fail("--map %" PRIu32 ": %s", b->pid, ntr_program_error(b->program));
}

/* For the process and all its other threads. */
static int add_file(const struct map_binding *b, const char *file, const char *shown, uint64_t bias) {
    int status = add_for_thread(b, b->pid, file, shown, bias);

    for (size_t i = 0; i < b->threads.count && status == CLI_OK; i++)
        if (b->threads.list[i].pid == b->pid && b->threads.list[i].tid != b->pid)
            status = add_for_thread(b, b->threads.list[i].tid, file, shown, bias);
    return status;
}

/* A file of which a part is mapped as code; `base` is where its beginning is. */
static int add_mapped(const struct map_binding *b, const char *path, uint64_t base) {
    const char *sysroot = b->sysroot ? b->sysroot : "";
    char file[PATH_MAX];
    ntr_image_info info;

    if (snprintf(file, sizeof file, "%s%s", sysroot, path) >= (int)sizeof file)
        return cli_fail("%s: name too long", path);
    ntr_program *alone = cli_program_new();
    if (!alone) return cli_fail("out of memory");
    uint64_t low = 0;
    const ntr_status status = ntr_program_add_elf(alone, file, NULL);
    if (status == NTR_OK && ntr_program_image(alone, 0, &info) == NTR_OK) low = info.low & ~(uint64_t)(MAPPED_PAGE - 1);
    if (status != NTR_OK)
        cli_doubt("--map %" PRIu32 ": %s; its code will be missing", b->pid, ntr_program_error(alone));
    ntr_program_free(alone);
    return status == NTR_OK ? add_file(b, file, path, base - low) : CLI_OK;
}

/* Lines of /proc/PID/maps: FROM-TO PERMISSIONS OFFSET DEVICE INODE PATH. */
static int add_maps(const struct map_binding *b, const char *maps, char *text) {
    char base_of[PATH_MAX] = "", added[PATH_MAX] = "";
    uint64_t base = 0;
    size_t line = 0;

    for (char *at = text, *next; at && *at; at = next) {
        uint64_t from, to, offset;
        char *rest = at;
        line++;
        next = strchr(at, '\n');
        if (next) *next++ = 0;
        bool good = take_number(&rest, 16, &from) && *rest++ == '-' && take_number(&rest, 16, &to) && to > from;
        const char *permissions = good ? take_word(&rest) : "";
        good = good && rest - permissions == 4 && take_number(&rest, 16, &offset);
        if (!good) return cli_fail("%s: line %zu: expected a line of /proc/PID/maps, found '%.60s'", maps, line, at);
        take_word(&rest); /* device */
        take_word(&rest); /* inode */
        const char *path = rest + strspn(rest, " \t");
        if (*path != '/' || strlen(path) >= sizeof base_of) continue;
        if (strcmp(path, base_of) != 0 || offset == 0) {
            base = from - offset;
            snprintf(base_of, sizeof base_of, "%s", path);
        }
        if (permissions[2] != 'x' || strcmp(path, added) == 0) continue;
        snprintf(added, sizeof added, "%s", path);
        if (add_mapped(b, path, base) != CLI_OK) return CLI_FAILED;
    }
    return CLI_OK;
}

static bool is_elf(const char *path) {
    char magic[4] = "";
    FILE *file = fopen(path, "rbe");

    if (!file) return false;
    const bool is = fread(magic, 1, sizeof magic, file) == sizeof magic && memcmp(magic, "\177ELF", sizeof magic) == 0;
    fclose(file);
    return is;
}

/* PID=FILE: an ELF file, or a copy of /proc/PID/maps. */
static int add_map(struct map_binding *b, const char *value) {
    const char *equals = strchr(value, '=');
    char number[16] = "";
    uint64_t pid;
    size_t size;

    if (equals && (size_t)(equals - value) < sizeof number) memcpy(number, value, (size_t)(equals - value));
    if (!equals || !equals[1] || !cli_parse_number(number, &pid) || pid >= UINT32_MAX)
        return cli_fail("--map: expected PID=FILE, found '%s'", value);
    b->pid = (uint32_t)pid;
    cli_input_guard_add(equals + 1);
    if (is_elf(equals + 1)) return add_file(b, equals + 1, equals + 1, 0);
    char *text = cli_input_limited(equals + 1, CLI_LIMIT_MAPS, &size);
    const int status = text ? add_maps(b, equals + 1, text) : CLI_FAILED;
    free(text);
    return status;
}

int cli_maps_load(const struct cli_maps *maps, const char *sysroot, ntr_program *program) {
    struct map_binding b = {.sysroot = sysroot, .program = program};
    int status = maps->threads && maps->list.count ? read_threads(maps->threads, &b.threads) : CLI_OK;

    for (size_t i = 0; i < maps->list.count && status == CLI_OK; i++) status = add_map(&b, maps->list.items[i].value);
    release_threads(&b.threads);
    return status;
}

int cli_maps_tasks(const struct cli_maps *maps, ntr_tasks **tasks) {
    struct threads t = {0};
    char *text = NULL;
    size_t size = 0, line;

    *tasks = NULL;
    if (!maps->threads) return CLI_OK;
    int status = read_threads(maps->threads, &t);
    FILE *file = status == CLI_OK ? open_memstream(&text, &size) : NULL;
    if (file) fputs("ntrace-tasks 1\nposition src context task pid tgid comm\n", file);
    for (size_t i = 0; file && i < t.count; i++)
        fprintf(file, "0 - %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %s\n", t.list[i].tid, t.list[i].tid,
                t.list[i].tid, t.list[i].pid,
                *name_of(&t, t.list[i].pid) ? name_of(&t, t.list[i].pid) : t.list[i].name);
    if (status == CLI_OK &&
        (!file || fclose(file) != 0 ||
         ntr_tasks_read(tasks, (ntr_bytes){(const uint8_t *)text, size}, &cli_memory, &line) != NTR_OK))
        status = cli_fail("%s: the list of threads cannot be read", maps->threads);
    free(text);
    release_threads(&t);
    return status;
}

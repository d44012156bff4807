/* execve: QEMU passes the call to the host, which cannot execute RISC-V programs. When the guest executes a RISC-V
 * program, or a script with a RISC-V interpreter, the plugin executes QEMU with that program instead, with the options
 * of this QEMU. The memory of the trace is the same one (CHANNEL_REPLACED). Everything else is left to QEMU. */
#include "state.h"
#include "channel/resolve.h"
#include "riscv.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { GUEST_AT_FDCWD = -100, GUEST_AT_EMPTY_PATH = 0x1000, GUEST_WORDS_MAX = 1 << 20 };

/* ---- lists of strings ----------------------------------------------------------------------------------------------
 */

/* A list of strings that grows; the last item is NULL. */
struct words {
    char **items;
    size_t count, capacity;
    bool failed;
};

static void add(struct words *words, char *word) {
    if (words->count + 2 > words->capacity) {
        size_t capacity = 2 * words->capacity + 64;
        char **larger = realloc(words->items, capacity * sizeof *larger);
        words->failed |= !larger;
        if (!larger) return;
        words->items = larger;
        words->capacity = capacity;
    }
    words->failed |= !word;
    words->items[words->count++] = word;
    words->items[words->count] = NULL;
}

/* The guest's array of pointers to strings; address 0: an empty one. */
static void read_words(struct words *words, uint64_t address) {
    unsigned width = channel->head.xlen / 8;

    add(words, (char *)(uintptr_t)"");
    words->count = 0;
    if (words->items) words->items[0] = NULL;
    for (uint64_t at = address; address && !words->failed && words->count < GUEST_WORDS_MAX; at += width) {
        uint64_t pointer = 0;
        words->failed |= !memory_read_guest(at, &pointer, width);
        if (words->failed || !pointer) return;
        add(words, memory_read_string(pointer));
    }
}

/* QEMU hands its environment on in reverse. */
static void reverse(struct words *words) {
    for (size_t i = 0; i < words->count / 2; i++) {
        char *word = words->items[i];
        words->items[i] = words->items[words->count - 1 - i];
        words->items[words->count - 1 - i] = word;
    }
}

/* ---- the name of the file -----------------------------------------------------------------------------------------
 */

/* execveat: a name relative to a folder, or the file of a descriptor. */
static bool name_at(int folder, const char *given, bool empty, char *name) {
    char link[32];
    int n;

    if (*given == '/' || (*given && folder == GUEST_AT_FDCWD)) {
        n = snprintf(name, PATH_MAX, "%s", given);
        return n > 0 && n < PATH_MAX;
    }
    if (!*given && !empty) return false;
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    ssize_t length = readlink(link, name, PATH_MAX - 1);
    if (length <= 0) return false;
    n = *given ? snprintf(name + length, (size_t)(PATH_MAX - length), "/%s", given) : 0;
    name[length + n < PATH_MAX ? length + n : 0] = 0;
    return n >= 0 && *name;
}

/* ---- the command line ---------------------------------------------------------------------------------------------
 */

/* The arguments of this process, in one block that is never freed. */
static bool own_arguments(struct words *words) {
    size_t size = 0, capacity = 1 << 16;
    char *text = malloc(capacity);
    int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t n = -1;

    while (text && file >= 0 && (n = read(file, text + size, capacity - size - 1)) > 0) {
        size += (size_t)n;
        if (size + 1 == capacity) text = realloc(text, capacity *= 2);
    }
    if (file >= 0) close(file);
    if (!text || n < 0) return false;
    for (char *at = text; at < text + size; at += strlen(at) + 1) add(words, at);
    return !words->failed && words->count;
}

/* The file of the program that is executed now; empty: not known. */
static char program_file[PATH_MAX];

/* The file that this code is in. */
static const char *own_file(void) {
    Dl_info about;

    return dladdr(program_file, &about) ? about.dli_fname : "";
}

/* How many arguments come before `-plugin` of this plugin, which is the last option of QEMU. There may be other plugins
 * before it. */
static size_t options_end(const struct words *own) {
    const char *file = own_file();
    size_t length = strlen(file), i = 1;

    for (; i + 1 < own->count; i++)
        if (strcmp(own->items[i], "-plugin") == 0 && strncmp(own->items[i + 1], file, length) == 0 &&
            own->items[i + 1][length] == ',')
            break;
    return i + 1 < own->count ? i : own->count;
}

/* The root of the guest's libraries: the argument of -L. */
static const char *root_of(const struct words *own) {
    for (size_t i = 1, end = options_end(own); i + 1 < end; i++)
        if (strcmp(own->items[i], "-L") == 0) return own->items[i + 1];
    return NULL;
}

static struct words *arguments_of_process(void) {
    static struct words own;

    return own.count || own_arguments(&own) ? &own : NULL;
}

void replace_begin(void) {
    const struct words *own = arguments_of_process();
    size_t i = own ? options_end(own) + 2 : 0;

    if (own && i + 2 < own->count && strcmp(own->items[i], "-0") == 0) i += 2;
    if (!own || i >= own->count || !realpath(own->items[i], program_file)) *program_file = 0;
}

/* The program executes itself: what /proc says is QEMU. */
static bool is_itself(const char *name) {
    char number[64];

    snprintf(number, sizeof number, "/proc/%d/exe", (int)getpid());
    return *program_file && (strcmp(name, "/proc/self/exe") == 0 || strcmp(name, "/proc/thread-self/exe") == 0 ||
                             strcmp(name, number) == 0);
}

const char *replace_root(void) {
    const struct words *own = arguments_of_process();
    const char *root = own ? root_of(own) : NULL;

    return root ? root : plugin_root;
}

/* QEMU and its options, up to the plugin. */
static bool put_qemu(struct words *out, const struct words *own, const char *root) {
    static char qemu[PATH_MAX], plugin[2 * PATH_MAX];
    const size_t end = options_end(own);

    ssize_t n = readlink("/proc/self/exe", qemu, sizeof qemu - 1);
    if (n <= 0 || end == own->count) return false;
    add(out, qemu);
    for (size_t i = 1; i < end; i++) add(out, own->items[i]);
    if (root && !root_of(own)) {
        add(out, (char *)(uintptr_t)"-L");
        add(out, (char *)(uintptr_t)root);
    }
    if (plugin_detached)
        snprintf(plugin, sizeof plugin, "%s,channel=none", own_file());
    else
        snprintf(plugin, sizeof plugin, "%s,channel=/proc/%u/fd/%d", own_file(), channel->head.reader,
                 (int)channel->head.file);
    if (plugin_root) {
        strncat(plugin, ",root=", sizeof plugin - strlen(plugin) - 1);
        strncat(plugin, plugin_root, sizeof plugin - strlen(plugin) - 1);
    }
    add(out, (char *)(uintptr_t)"-plugin");
    add(out, plugin);
    return true;
}

static void put_program(struct words *out, const struct channel_program *program, const struct words *arguments) {
    const char *zero = program->count ? program->words[0] : arguments->count ? arguments->items[0] : program->path;

    add(out, (char *)(uintptr_t)"-0");
    add(out, (char *)(uintptr_t)zero);
    add(out, (char *)(uintptr_t)program->path);
    for (unsigned i = 1; i < program->count; i++) add(out, (char *)(uintptr_t)program->words[i]);
    for (size_t i = 1; i < arguments->count; i++) add(out, arguments->items[i]);
}

/* ---- the call -----------------------------------------------------------------------------------------------------
 */

/* Returns only when the program is not executed. */
static void execute(const char *name, uint64_t arguments_at, uint64_t environment_at) {
    static struct channel_program program;
    const struct words *own = arguments_of_process();
    struct words out = {0}, arguments = {0}, environment = {0};

    if (!own) return;
    const char *root = replace_root();
    const bool itself = is_itself(name);
    if (ntr_channel_resolve(itself ? NULL : root, itself ? program_file : name, &program) ||
        program.is_64 != (channel->head.xlen == 64))
        return;
    read_words(&arguments, arguments_at);
    read_words(&environment, environment_at);
    reverse(&environment);
    if (!put_qemu(&out, own, program.is_dynamic ? root : NULL)) return;
    put_program(&out, &program, &arguments);
    if (out.failed || arguments.failed || environment.failed) return;
    execve(out.items[0], out.items, environment.items);
}

void replace_program(const uint64_t argument[6], bool at) {
    uint64_t file = argument[at ? 1 : 0];
    char name[PATH_MAX];

    if (!(channel->head.follow & CHANNEL_FOLLOW_EXEC)) return;
    char *given = memory_read_string(file);
    if (!given) return;
    int folder = at ? (int)(int64_t)argument[0] : GUEST_AT_FDCWD;
    if (name_at(folder, given, at && argument[4] & GUEST_AT_EMPTY_PATH, name))
        execute(name, argument[at ? 2 : 1], argument[at ? 3 : 2]);
    free(given);
}

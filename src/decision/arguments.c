#include "decision/arguments.h"
#include "base/allocator.h"
#include "base/file.h"
#include "base/macros.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *ntr_path_resolve(ntr_texts *texts, const char *name) {
    char path[PATH_MAX];
    return ntr_texts_keep(texts, realpath(name, path) ? path : name);
}

static bool find_below(const char *folder, size_t size, const char *name, char found[PATH_MAX]) {
    char path[PATH_MAX];
    for (const char *rest = name; rest; rest = strchr(rest, '/')) {
        while (*rest == '/') rest++;
        int length = snprintf(path, sizeof path, "%.*s/%s", (int)size, folder, rest);
        if (length > 0 && (size_t)length < sizeof path && *rest && realpath(path, found)) return true;
    }
    return false;
}

const char *ntr_path_find(ntr_texts *texts, const char *folders, const char *name) {
    char path[PATH_MAX];
    if (realpath(name, path)) return ntr_texts_keep(texts, path);
    for (const char *folder = folders; folder && *folder;) {
        size_t size = strcspn(folder, ":");
        if (size && find_below(folder, size, name, path)) return ntr_texts_keep(texts, path);
        folder += size + (folder[size] == ':');
    }
    return ntr_texts_keep(texts, name);
}

/* ---- levels of optimization -------------------------------------------------------------------- */

/* Follows the options of a command: the last -O wins. */
static void see_level(const char *option, size_t size, bool *unoptimized, bool *debug) {
    if (size < 2 || strncmp(option, "-O", 2) != 0) return;
    *unoptimized = size == 3 && option[2] == '0';
    *debug = size == 3 && option[2] == 'g';
}

void ntr_producer_level(const char *producer, bool *unoptimized, bool *debug) {
    *unoptimized = producer != NULL;
    *debug = false;
    if (!producer) return;
    for (const char *at = producer; (at = strchr(at, ' '));) {
        at++;
        see_level(at, strcspn(at, " "), unoptimized, debug);
    }
}

/* Returns whether one of the options in a producer string is this one. */
static bool has_option(const char *producer, const char *option) {
    const size_t size = strlen(option);
    for (const char *at = producer; (at = strchr(at, ' '));) {
        at++;
        if (strcspn(at, " ") == size && strncmp(at, option, size) == 0) return true;
    }
    return false;
}

bool ntr_producer_keeps_paths(const char *producer) {
    return producer && has_option(producer, "-fno-thread-jumps") && !has_option(producer, "-fthread-jumps");
}

/* ---- compile_commands.json --------------------------------------------------------------------- */

ntr_status ntr_commands_load(json_t **commands, const char *given, uint64_t most, char *why, size_t size) {
    char path[PATH_MAX];
    struct stat about;
    json_error_t error = {0};
    char *text;
    size_t length;
    snprintf(path, sizeof path, "%s", given);
    if (stat(given, &about) == 0 && S_ISDIR(about.st_mode))
        snprintf(path, sizeof path, "%s/compile_commands.json", given);
    ntr_status status = ntr_read_regular(path, most, NULL, &text, &length);
    if (status) {
        snprintf(why, size, "%.300s: %s", path,
                 status != NTR_E_IO ? "out of memory"
                 : errno == EFBIG   ? "larger than the limit compile-commands"
                                    : ntr_regular_error(errno));
        return status;
    }
    *commands = json_loadb(text, length, 0, &error);
    ntr_dealloc(NULL, text);
    if (!*commands) {
        snprintf(why, size, "%.200s:%d: %s", path, error.line, error.text);
        return NTR_E_FORMAT;
    }
    if (json_is_array(*commands)) return NTR_OK;
    snprintf(why, size, "%.300s: expected an array of commands", path);
    json_decref(*commands);
    *commands = NULL;
    return NTR_E_FORMAT;
}

static const json_t *find_command(const json_t *commands, ntr_texts *texts, const char *path) {
    char name[PATH_MAX];
    for (size_t i = 0; i < json_array_size(commands); i++) {
        const json_t *command = json_array_get(commands, i);
        const char *file = json_string_value(json_object_get(command, "file"));
        const char *directory = json_string_value(json_object_get(command, "directory"));
        if (!file) continue;
        snprintf(name, sizeof name, "%s%s%s", file[0] == '/' || !directory ? "" : directory,
                 file[0] == '/' || !directory ? "" : "/", file);
        const char *resolved = ntr_path_resolve(texts, name);
        if (resolved && strcmp(resolved, path) == 0) return command;
    }
    return NULL;
}

/* ---- the list ---------------------------------------------------------------------------------- */

static ntr_status add(ntr_arguments *a, const char *text) {
    const char *kept = ntr_texts_keep(a->texts, text);
    if (!kept || ntr_reserve(a->allocator, (void **)&a->items, &a->capacity, a->count + 1, sizeof *a->items))
        return NTR_E_MEMORY;
    a->items[a->count++] = kept;
    return NTR_OK;
}

static ntr_status add_path(ntr_arguments *a, const char *directory, const char *path) {
    char whole[2 * PATH_MAX];
    snprintf(whole, sizeof whole, "%s%s%s", path[0] == '/' || !directory ? "" : directory,
             path[0] == '/' || !directory ? "" : "/", path);
    return add(a, whole);
}

/* The options of a compiler that change what the source means: macros, folders and the language. */
static const char *const with_value[] = {"-D", "-U", "-I", "-include", "-imacros", "-isystem", "-iquote", "-idirafter"};

static bool is_pair(const char *option) {
    for (size_t i = 0; i < sizeof with_value / sizeof with_value[0]; i++)
        if (strcmp(option, with_value[i]) == 0) return true;
    return false;
}

static bool is_folder(const char *option) {
    return strcmp(option, "-D") != 0 && strcmp(option, "-U") != 0;
}

/* Options that change types. */
static bool is_type_option(const char *word) {
    return strcmp(word, "-fsigned-char") == 0 || strcmp(word, "-funsigned-char") == 0 ||
           strcmp(word, "-fshort-enums") == 0;
}

/* Takes an option and returns whether the next word is its value. */
static ntr_status take_option(ntr_arguments *a, const char *directory, const char *word, const char *next,
                              bool *uses_next) {
    *uses_next = false;
    see_level(word, strlen(word), &a->unoptimized, &a->debug);
    if (strncmp(word, "-std=", 5) == 0 || is_type_option(word)) return add(a, word);
    for (size_t i = 0; i < sizeof with_value / sizeof with_value[0]; i++) {
        size_t size = strlen(with_value[i]);
        if (strncmp(word, with_value[i], size) != 0) continue;
        const char *value = word[size] ? word + size : next;
        if (!value) return NTR_OK;
        *uses_next = !word[size];
        TRY(add(a, with_value[i]));
        return is_folder(with_value[i]) ? add_path(a, directory, value) : add(a, value);
    }
    return NTR_OK;
}

static ntr_status take_words(ntr_arguments *a, const char *directory, const char *const *words, size_t count) {
    for (size_t i = 1; i < count; i++) {
        bool uses_next;
        TRY(take_option(a, directory, words[i], i + 1 < count ? words[i + 1] : NULL, &uses_next));
        i += uses_next;
    }
    return NTR_OK;
}

enum { WORDS_MAX = 4096 };

/* Splits a command as a shell does: blanks, quotes and backslashes. Without `quotes` these are part of the words.
 * Writes the words to `text`. */
static size_t split(const char *command, bool quotes, char *text, const char **words) {
    size_t count = 0;
    char quote = 0;
    for (const char *at = command; *at && count < WORDS_MAX;) {
        while (*at == ' ' || *at == '\t' || *at == '\n') at++;
        if (!*at) break;
        words[count++] = text;
        for (; *at && (quote || (*at != ' ' && *at != '\t' && *at != '\n')); at++) {
            if (quotes && (quote ? *at == quote : *at == '"' || *at == '\''))
                quote = quote ? 0 : *at;
            else if (*at == '\\' && quote != '\'' && at[1])
                *text++ = *++at;
            else
                *text++ = *at;
        }
        *text++ = '\0';
    }
    return count;
}

static ntr_status take_text(ntr_arguments *a, const char *directory, const char *command, bool quotes) {
    size_t size = strlen(command) + 1;
    char *text = ntr_alloc(a->allocator, 2, size);
    const char **words = ntr_alloc(a->allocator, WORDS_MAX, sizeof *words);
    ntr_status status =
        text && words ? take_words(a, directory, words, split(command, quotes, text, words)) : NTR_E_MEMORY;
    ntr_dealloc(a->allocator, text);
    ntr_dealloc(a->allocator, words);
    return status;
}

/* Returns whether the producer string has the command line of clang: -grecord-command-line, or its older name. It has
 * backslashes before blanks and backslashes, and nothing before quotes. */
static bool has_command_line(const char *producer) {
    return producer && strstr(producer, "clang version ") &&
           (has_option(producer, "-grecord-command-line") || has_option(producer, "-grecord-gcc-switches"));
}

static bool is_inside(const char *path, const char *folder, size_t size) {
    char whole[PATH_MAX], given[PATH_MAX], name[PATH_MAX];
    snprintf(name, sizeof name, "%.*s", (int)size, folder);
    if (!size || size >= PATH_MAX || !realpath(path, whole) || !realpath(name, given)) return false;
    size = strlen(given);
    return size > 1 && strncmp(whole, given, size) == 0 && whole[size] == '/';
}

/* Whether an option that the program has recorded may name this file: it is in the folder of compilation or in one of
 * --source-path. */
static bool may_name(const ntr_debug_unit *unit, const char *folders, const char *path) {
    if (unit->directory && is_inside(path, unit->directory, strlen(unit->directory))) return true;
    for (const char *folder = folders; folder && *folder;) {
        const size_t size = strcspn(folder, ":");
        if (is_inside(path, folder, size)) return true;
        folder += size + (folder[size] == ':');
    }
    return false;
}

/* The producer string comes from the program: files that it includes are not taken from everywhere. Folders may be;
 * what is included from them is checked (decision/includes.h). */
static ntr_status take_recorded(ntr_arguments *a, const ntr_debug_unit *unit, const char *folders) {
    const size_t before = a->count;
    a->has_level = a->unoptimized = true;
    TRY(take_text(a, unit->directory, unit->producer, false));
    size_t kept = before;
    for (size_t i = before; i < a->count; i++) {
        const bool file = strcmp(a->items[i], "-include") == 0 || strcmp(a->items[i], "-imacros") == 0;
        const bool pair = file || is_pair(a->items[i]);
        if (file && i + 1 < a->count && !may_name(unit, folders, a->items[i + 1])) {
            a->refused = a->items[++i];
            continue;
        }
        a->items[kept++] = a->items[i];
        if (pair && i + 1 < a->count) a->items[kept++] = a->items[++i];
    }
    a->count = kept;
    return NTR_OK;
}

static ntr_status take_command(ntr_arguments *a, const json_t *command) {
    const char *directory = json_string_value(json_object_get(command, "directory"));
    const json_t *list = json_object_get(command, "arguments");
    a->has_level = a->unoptimized = true;
    if (!json_is_array(list)) {
        const char *text = json_string_value(json_object_get(command, "command"));
        return text ? take_text(a, directory, text, true) : NTR_OK;
    }
    const char **words = ntr_alloc(a->allocator, json_array_size(list) + 1, sizeof *words);
    if (!words) return NTR_E_MEMORY;
    for (size_t i = 0; i < json_array_size(list); i++) {
        words[i] = json_string_value(json_array_get(list, i));
        if (!words[i]) words[i] = "";
    }
    ntr_status status = take_words(a, directory, words, json_array_size(list));
    ntr_dealloc(a->allocator, words);
    return status;
}

/* Folders of the compiler itself are left out, because libclang has its own; a path through them, such as
 * gcc-cross/riscv64-linux-gnu/12/../../../../riscv64-linux-gnu/include, is a folder of the system. */
static bool is_compiler_folder(const char *folder) {
    return (strstr(folder, "/lib/gcc") || strstr(folder, "/lib/clang/")) && !strstr(folder, "/../");
}

/* Folders of the line table: headers of the program and of the system. `parents`: the folders around them, for names
 * that have a folder. */
static ntr_status take_folders(ntr_arguments *a, const ntr_debug_unit *unit, bool parents) {
    char path[PATH_MAX + 4];
    for (size_t i = 0; i < unit->folder_count; i++) {
        const char *folder = unit->folders[i];
        if (!folder || !*folder || strlen(folder) >= PATH_MAX || is_compiler_folder(folder)) continue;
        snprintf(path, sizeof path, "%s%s", folder, parents ? "/.." : "");
        /* libclang takes headers of -idirafter as those of the system, of which decisions are not listed */
        TRY(add(a, strncmp(path, "/usr/", 5) == 0 ? "-idirafter" : "-I"));
        TRY(add_path(a, unit->directory, path));
    }
    return NTR_OK;
}

bool ntr_language_is_cpp(unsigned language) {
    switch (language) {
    case NTR_LANGUAGE_CPP:
    case NTR_LANGUAGE_CPP_03:
    case NTR_LANGUAGE_CPP_11:
    case NTR_LANGUAGE_CPP_14:
    case NTR_LANGUAGE_CPP_17:
    case NTR_LANGUAGE_CPP_20: return true;
    default: return false;
    }
}

/* Takes the options of gcc in the producer string that change what the source means. The target's `char` is unsigned,
 * so values of -fsigned-char would be others. */
static ntr_status take_producer(ntr_arguments *a, const char *producer, bool standard) {
    char word[40];
    for (const char *at = producer ? strchr(producer, ' ') : NULL; at; at = strchr(at, ' ')) {
        const size_t size = strcspn(++at, " ");
        if (size >= sizeof word) continue;
        snprintf(word, sizeof word, "%.*s", (int)size, at);
        if ((standard && strncmp(word, "-std=", 5) == 0) || is_type_option(word)) TRY(add(a, word));
    }
    return NTR_OK;
}

/* What gcc 12 accepts with a warning is an error of libclang. */
static const char *const lenient[] = {"-w",
                                      "-Wno-implicit-function-declaration",
                                      "-Wno-implicit-int",
                                      "-Wno-int-conversion",
                                      "-Wno-incompatible-function-pointer-types",
                                      "-Wno-return-type"};

ntr_status ntr_arguments_make(ntr_arguments *a, const json_t *commands, const ntr_source_options *options,
                              const ntr_debug_unit *unit, unsigned xlen, const char *path) {
    const json_t *command = find_command(commands, a->texts, path);
    TRY(add(a, xlen == 32 ? "--target=riscv32-unknown-linux-gnu" : "--target=riscv64-unknown-linux-gnu"));
    TRY(add(a, "-x"));
    TRY(add(a, ntr_language_is_cpp(unit->language) ? "c++" : "c"));
    for (size_t i = 0; i < sizeof lenient / sizeof lenient[0]; i++) TRY(add(a, lenient[i]));
    const bool recorded = !command && has_command_line(unit->producer);
    if (command) TRY(take_command(a, command));
    TRY(recorded ? take_recorded(a, unit, options->source_path) : take_producer(a, unit->producer, !command));
    for (size_t i = 0; i < options->argument_count; i++) {
        a->has_level |= strncmp(options->arguments[i], "-O", 2) == 0;
        see_level(options->arguments[i], strlen(options->arguments[i]), &a->unoptimized, &a->debug);
        TRY(add(a, options->arguments[i]));
    }
    TRY(take_folders(a, unit, false));
    if (!command) TRY(take_folders(a, unit, true));
    TRY(add(a, "-idirafter"));
    return add(a, xlen == 32 ? "/usr/riscv32-linux-gnu/include" : "/usr/riscv64-linux-gnu/include");
}

void ntr_arguments_release(ntr_arguments *a) {
    ntr_dealloc(a->allocator, a->items);
    a->items = NULL;
    a->count = a->capacity = 0;
}

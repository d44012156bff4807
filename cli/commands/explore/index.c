/* The file of an index is named by its key: a digest of everything that the index depends on, which are the bytes of
 * the stream, those of all images, the parameters, threads and options, and the bytes of ntrace itself. A trace or a
 * program that was replaced has another key. The folder is bounded: the files that were used last are kept. */
#include "commands/explore/index.h"
#include "io/input.h"
#include "io/memory.h"
#include "options/diagnostics.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <ntrace/export.h>
#include <ntrace/partial.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEPT_SUFFIX ".ntrace-index"

enum {
    NAME_DIGITS = 2 * EXPLORE_KEY_SIZE,
    KEY_BLOCK = 1 << 18,
    KEPT_MOST = 64,             /* files in the folder */
    KEPT_MILLISECONDS = 1000,   /* an index that is made in less time is not kept */
};
#define KEPT_BYTES  (UINT64_C(1) << 30) /* of all files in the folder */
#define INDEX_BYTES (UINT64_C(1) << 28) /* of one file */

/* ---- the key */

struct key_maker {
    ntr_partial_digest digest;
    struct seen_file {
        dev_t device;
        ino_t file;
    } *seen; /* a file that is mapped in many processes is read once */
    size_t count, capacity;
    uint8_t *block;
    bool failed;
};

static void add_number(struct key_maker *k, uint64_t value) {
    ntr_partial_digest_add(&k->digest, &value, sizeof value);
}

static void add_text(struct key_maker *k, const char *text) {
    add_number(k, text ? strlen(text) : UINT64_MAX);
    if (text) ntr_partial_digest_add(&k->digest, text, strlen(text));
}

static void add_open_file(struct key_maker *k, int fd) {
    uint64_t at = 0;
    ssize_t got;

    while ((got = pread(fd, k->block, KEY_BLOCK, (off_t)at)) > 0) {
        ntr_partial_digest_add(&k->digest, k->block, (size_t)got);
        at += (uint64_t)got;
    }
    if (got < 0) k->failed = true;
    add_number(k, at);
}

/* Returns whether it is the first time. */
static bool is_new(struct key_maker *k, const struct stat *info) {
    size_t i = 0;

    while (i < k->count && (k->seen[i].file != info->st_ino || k->seen[i].device != info->st_dev)) i++;
    add_number(k, i);
    if (i < k->count) return false;
    if (k->count == k->capacity) {
        const size_t more = k->capacity ? 2 * k->capacity : 64;
        struct seen_file *grown = realloc(k->seen, more * sizeof *grown);
        if (!grown) {
            k->failed = true;
            return false;
        }
        k->seen = grown;
        k->capacity = more;
    }
    k->seen[k->count++] = (struct seen_file){info->st_dev, info->st_ino};
    return true;
}

static void add_file(struct key_maker *k, const char *path) {
    struct stat info;
    const int fd = path ? cli_open_regular(path, UINT64_MAX) : -1;

    add_number(k, fd >= 0);
    if (fd < 0) return;
    if (fstat(fd, &info) != 0)
        k->failed = true;
    else if (is_new(k, &info))
        add_open_file(k, fd);
    close(fd);
}

/* The command, the libraries with what decodes and names: another version may make another index. */
static int add_object(struct dl_phdr_info *info, size_t size, void *user) {
    static const char *const names[] = {"/libntrace", "/libdw", "/libelf"};

    (void)size;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (info->dlpi_name && strstr(info->dlpi_name, names[i])) add_file(user, info->dlpi_name);
    return 0;
}

static void add_parameters(struct key_maker *k, const ntr_params *params) {
    char value[100];
    const char *name;

    for (unsigned p = 0; p < NTR_PARAMETERS && (name = ntr_parameter_name(p)); p++) {
        if (ntr_params_get(params, name, value, sizeof value) < 0) *value = 0;
        add_text(k, value);
    }
}

/* Code that is in no file. */
static void add_code(struct key_maker *k, const ntr_program *program, size_t index, const ntr_image_info *image) {
    for (uint64_t at = image->low; at < image->high;) {
        const uint64_t left = image->high - at;
        const size_t size = left < KEY_BLOCK ? (size_t)left : KEY_BLOCK;
        const size_t got = ntr_program_read(program, ntr_program_image_place(program, index, at), k->block, size);
        if (!got) break;
        ntr_partial_digest_add(&k->digest, k->block, got);
        at += got;
    }
}

static void add_image(struct key_maker *k, const ntr_program *program, size_t index, const ntr_image_info *image) {
    const ntr_image_options *o = &image->options;
    const uint64_t numbers[] = {image->bias,     image->low, image->high,    o->bias,    o->has_scontext,
                                o->has_hcontext, o->has_prv, o->prv,         o->v,       o->scontext,
                                o->hcontext,     o->from,    o->until,       o->has_isa, o->has_jvt,
                                o->isa,          o->jvt,     o->has_segment, o->segment};

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) add_number(k, numbers[i]);
    add_text(k, image->name);
    add_file(k, image->path);
    if (!image->path) add_code(k, program, index, image);
}

/* The names of threads decide which function switches to which. */
static void add_threads(struct key_maker *k, const struct explore_session *s) {
    const struct cli_maps *maps = &s->replay.options->images.maps;
    char path[PATH_MAX];

    if (s->replay.trace.bundle &&
        snprintf(path, sizeof path, "%s/tasks", ntr_bundle_folder(s->replay.trace.bundle)) < PATH_MAX)
        add_file(k, path);
    if (s->replay.trace.perf) add_file(k, s->path);
    for (size_t i = 0; i < maps->list.count; i++) add_text(k, maps->list.items[i].value);
    add_file(k, maps->threads);
}

static void add_all(struct key_maker *k, const struct explore_session *s) {
    ntr_image_info image;

    add_file(k, "/proc/self/exe");
    dl_iterate_phdr(add_object, k);
    add_open_file(k, s->replay.stream_file);
    add_number(k, cli_replay_has_common_clock(&s->replay));
    add_parameters(k, &s->replay.trace.params);
    add_text(k, s->replay.options->debug_path);
    add_text(k, getenv("DEBUGINFOD_URLS"));
    for (size_t i = 0; ntr_program_image(s->replay.trace.program, i, &image) == NTR_OK; i++)
        add_image(k, s->replay.trace.program, i, &image);
    add_threads(k, s);
}

static bool make_key(const struct explore_session *s, uint8_t key[EXPLORE_KEY_SIZE]) {
    struct key_maker k = {.block = malloc(KEY_BLOCK)};
    uint64_t id[2];

    if (k.block) add_all(&k, s);
    const bool good = k.block && !k.failed;
    ntr_partial_digest_finish(&k.digest, id);
    memcpy(key, id, EXPLORE_KEY_SIZE);
    free(k.block);
    free(k.seen);
    return good;
}

/* ---- the folder */

/* Stores the folder, which need not exist. Returns false when nothing is to be kept. */
static bool find_folder(const struct explore_options *o, char folder[PATH_MAX]) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int size;

    if (o->cache && strcmp(o->cache, "none") == 0) return false;
    if (o->cache)
        size = snprintf(folder, PATH_MAX, "%s", o->cache);
    else if (cache && *cache == '/')
        size = snprintf(folder, PATH_MAX, "%s/ntrace/explore", cache);
    else if (home && *home == '/')
        size = snprintf(folder, PATH_MAX, "%s/.cache/ntrace/explore", home);
    else
        return false;
    return size > 0 && size < PATH_MAX;
}

static void make_folders(char *folder) {
    for (char *slash = folder + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = 0;
        mkdir(folder, 0777);
    }
    mkdir(folder, 0700);
}

static bool path_of(const struct explore_session *s, const char *folder, char path[PATH_MAX]) {
    char name[NAME_DIGITS + 1];

    for (size_t i = 0; i < EXPLORE_KEY_SIZE; i++) snprintf(name + 2 * i, 3, "%02x", s->key[i]);
    const int size = snprintf(path, PATH_MAX, "%s/%s" KEPT_SUFFIX, folder, name);
    return size > 0 && size < PATH_MAX;
}

struct kept_file {
    struct timespec used;
    uint64_t size;
    char name[NAME_MAX + 1];
};

static int newest_first(const void *left, const void *right) {
    const struct kept_file *x = left, *y = right;

    if (x->used.tv_sec != y->used.tv_sec) return x->used.tv_sec > y->used.tv_sec ? -1 : 1;
    if (x->used.tv_nsec != y->used.tv_nsec) return x->used.tv_nsec > y->used.tv_nsec ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Files of ours, also those that a command has begun and not finished. */
static bool is_kept(const char *name) {
    return strspn(name, "0123456789abcdef") == NAME_DIGITS &&
           strncmp(name + NAME_DIGITS, KEPT_SUFFIX, sizeof KEPT_SUFFIX - 1) == 0;
}

/* Removes the files that were used least recently, as far as there are too many. */
static void bound_folder(const char *folder) {
    struct kept_file *files = NULL;
    size_t count = 0;
    uint64_t size = 0;
    DIR *directory = opendir(folder);
    const struct dirent *entry;
    struct stat info;

    while (directory && (entry = readdir(directory))) {
        if (!is_kept(entry->d_name) || fstatat(dirfd(directory), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(info.st_mode))
            continue;
        struct kept_file *grown = realloc(files, (count + 1) * sizeof *files);
        if (!grown) break;
        files = grown;
        files[count].used = info.st_mtim;
        files[count].size = (uint64_t)info.st_size;
        snprintf(files[count++].name, sizeof files->name, "%s", entry->d_name);
    }
    if (count) qsort(files, count, sizeof *files, newest_first);
    for (size_t i = 0; i < count; i++) {
        size += files[i].size;
        if (i && (i >= KEPT_MOST || size > KEPT_BYTES)) unlinkat(dirfd(directory), files[i].name, 0);
    }
    free(files);
    if (directory) closedir(directory);
}

/* ---- loading */

void explore_index_load(struct explore_session *s, const struct explore_options *o) {
    char folder[PATH_MAX], path[PATH_MAX];
    struct stat info;
    ntr_bytes file = {0};

    s->begun = explore_clock();
    if (!find_folder(o, folder)) return;
    s->has_key = make_key(s, s->key) && path_of(s, folder, path);
    if (!s->has_key) return;
    const int fd = cli_open_regular(path, INDEX_BYTES);
    if (fd < 0) return;
    uint8_t *bytes =
        fstat(fd, &info) == 0 && (uint64_t)info.st_size <= INDEX_BYTES ? malloc((size_t)info.st_size + 1) : NULL;
    const ssize_t got = bytes ? read(fd, bytes, (size_t)info.st_size) : -1;
    if (got > 0) file = (ntr_bytes){bytes, (size_t)got};
    s->loaded = ntr_explorer_load(s->explorer, (ntr_bytes){s->key, EXPLORE_KEY_SIZE}, file) == NTR_OK;
    if (s->loaded) futimens(fd, NULL);
    free(bytes);
    close(fd);
}

/* ---- keeping */

static ntr_status write_some(void *user, const void *bytes, size_t size) {
    return size == 0 || fwrite(bytes, 1, size, user) == size ? NTR_OK : NTR_E_IO;
}

/* Writes the file under another name, and renames it when it is complete. */
static bool write_file(const struct explore_session *s, const char *path) {
    char temporary[PATH_MAX + 8];
    ntr_output output;

    snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
    const int fd = mkostemp(temporary, O_CLOEXEC);
    FILE *file = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (!file) return false;
    ntr_output_init(&output);
    output.write = write_some;
    output.user = file;
    bool good = ntr_explorer_save(s->explorer, (ntr_bytes){s->key, EXPLORE_KEY_SIZE}, &output) == NTR_OK;
    if (fclose(file) != 0) good = false;
    if (good && rename(temporary, path) == 0) return true;
    unlink(temporary);
    return false;
}

void explore_index_keep(struct explore_session *s, const struct explore_options *o) {
    char folder[PATH_MAX], path[PATH_MAX];
    uint8_t key[EXPLORE_KEY_SIZE];

    if (s->loaded || s->kept) return;
    s->kept = true;
    if (!s->has_key || (!o->cache && explore_clock() - s->begun < KEPT_MILLISECONDS)) return;
    if (!ntr_explorer_progress(s->explorer).complete || !find_folder(o, folder)) return;
    /* the stream or a program may have been replaced while it was read */
    if (!make_key(s, key) || memcmp(key, s->key, sizeof key) != 0) return;
    make_folders(folder);
    if (path_of(s, folder, path) && write_file(s, path))
        bound_folder(folder);
    else if (o->cache)
        cli_doubt("--cache %s: the index cannot be written there", o->cache);
}

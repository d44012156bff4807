#include "io/module.h"
#include "io/input.h"
#include "io/memory.h"
#include "options/diagnostics.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const uint64_t MODULE_BYTES_MAX = UINT64_C(1) << 32;

bool cli_module_is(const char *path) {
    uint8_t beginning[NTR_MODULE_BEGINNING];
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (file < 0) return false;
    const ssize_t size = read(file, beginning, sizeof beginning);
    close(file);
    return size == (ssize_t)sizeof beginning && ntr_module_is((ntr_bytes){beginning, sizeof beginning});
}

char *cli_module_name(const char *path) {
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *dot = strrchr(base, '.');
    char *name = strndup(base, dot && dot > base ? (size_t)(dot - base) : strlen(base));

    for (char *at = name; at && *at; at++)
        if (*at == '-') *at = '_';
    return name;
}

/* ---- */

/* The files that were linked. */
struct linked_file {
    char *path, *source;
};

static struct linked_file *linked_files;
static size_t linked_count;

static int note_linked(const char *path, const char *source) {
    struct linked_file *grown = realloc(linked_files, (linked_count + 1) * sizeof *grown);

    if (!grown) return cli_fail("out of memory");
    linked_files = grown;
    linked_files[linked_count] = (struct linked_file){strdup(path), strdup(source)};
    if (!linked_files[linked_count].path || !linked_files[linked_count].source) return cli_fail("out of memory");
    linked_count++;
    return CLI_OK;
}

const char *cli_module_source(const char *path) {
    for (size_t i = 0; i < linked_count; i++)
        if (strcmp(linked_files[i].path, path) == 0) return linked_files[i].source;
    return path;
}

/* A file in memory, which is gone when the command ends. */
static int memory_file(char path[40]) {
#ifdef __EMSCRIPTEN__ /* whose files are all in memory */
    snprintf(path, 40, "/tmp/ntrace-module-XXXXXX");
    return mkstemp(path);
#else
    const int file = memfd_create("ntrace-module", MFD_CLOEXEC);
    snprintf(path, 40, "/proc/self/fd/%d", file);
    return file;
#endif
}

static int write_all(int file, ntr_bytes bytes) {
    while (bytes.size) {
        ssize_t written = write(file, bytes.data, bytes.size);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return cli_fail("a linked module cannot be written: %s", strerror(errno));
        bytes.data += written;
        bytes.size -= (size_t)written;
    }
    return CLI_OK;
}

static int write_file(const char *source, const ntr_module *m, char **linked) {
    char path[40];
    int file = memory_file(path);
    ntr_bytes parts[2];

    if (file < 0) return cli_fail("%s: a linked module cannot be made: %s", source, strerror(errno));
    *linked = strdup(path);
    if (!*linked || note_linked(path, source) != CLI_OK) return cli_fail("out of memory");
    ntr_module_parts(m, parts);
    const int status = write_all(file, parts[0]);
    return status == CLI_OK ? write_all(file, parts[1]) : status;
}

int cli_module_link(const char *path, const char *module, ntr_module_place at, const ntr_program *program,
                    char **linked) {
    ntr_module *m = NULL;
    size_t size;
    const char *unplaced;
    uint8_t *bytes = (uint8_t *)cli_input_whole(path, MODULE_BYTES_MAX, &size);

    *linked = NULL;
    if (!bytes) return CLI_FAILED;
    int status = CLI_OK;
    if (ntr_module_new(path, &cli_memory, &m) != NTR_OK)
        status = cli_fail("out of memory");
    else if (ntr_module_link(m, bytes, size, module, at, program) != NTR_OK)
        status = cli_fail("%s", ntr_module_error(m));
    for (size_t i = 0; status == CLI_OK && at.where == NTR_MODULE_NAMES && (unplaced = ntr_module_unplaced(m, i)); i++)
        cli_note("%s: %s: its address is not known", path, unplaced);
    if (status == CLI_OK) status = write_file(path, m, linked);
    ntr_module_free(m);
    free(bytes);
    return status;
}

#include "io/debug_files.h"

#include "io/memory.h"
#include "options/diagnostics.h"
#include "options/limits.h"

#include <errno.h>
#include <inttypes.h>
#include <ntrace/debug_info.h>
#include <ntrace/isa.h>
#include <ntrace/program_files.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void check_folder(const char *folder) {
    struct stat about;

    if (stat(folder, &about) != 0)
        cli_note("--debug-path: %s: %s", folder, strerror(errno));
    else if (!S_ISDIR(about.st_mode))
        cli_note("--debug-path: %s: not a directory", folder);
}

static int check_folders(const char *path) {
    while (path && *path) {
        size_t size = strcspn(path, ":");
        char *folder = strndup(path, size);
        if (!folder) return cli_fail("out of memory");
        if (size) check_folder(folder);
        free(folder);
        path += size + (path[size] == ':');
    }
    return CLI_OK;
}

int cli_debug_files_load(ntr_program *program, const char *path) {
    ntr_status status = NTR_OK;
    bool found;

    if (check_folders(path) != CLI_OK) return CLI_FAILED;
    for (size_t i = 0; status != NTR_END; i++) {
        status = ntr_debug_symbols_add(program, i, path, &cli_memory, &found);
        if (status == NTR_E_MEMORY) return cli_fail("out of memory");
    }
    return CLI_OK;
}

ntr_program *cli_program_new(void) {
    ntr_program *program;
    ntr_program_new(NULL, &program);

    if (program) ntr_program_set_limits(program, cli_limits());
    return program;
}

bool cli_unknown_code(const ntr_program *program, char *text, size_t size) {
    ntr_place lowest;
    const uint64_t count = ntr_program_unknown(program, &lowest);
    uint8_t bytes[4] = {0};
    char encoding[9];

    if (!count) return false;
    const size_t known = ntr_program_read(program, lowest, bytes, sizeof bytes);
    const uint32_t word = bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
    const bool shorter = known < 4 || ntr_insn_length((uint16_t)word) == 2;
    snprintf(encoding, sizeof encoding, shorter ? "%04" PRIx32 : "%08" PRIx32, shorter ? word & 0xffff : word);
    snprintf(
        text, size,
        "instructions of unknown class at %s%" PRIu64 " address%s, the lowest 0x%" PRIx64
        " (%s): taken not to jump, unless a message says so; --isa names extensions, --instructions describes them",
        count == NTR_UNKNOWN_MAX ? "at least " : "", count, count == 1 ? "" : "es", lowest.address, encoding);
    return true;
}

void cli_program_close(ntr_program *program) {
    char unknown[CLI_UNKNOWN_TEXT];

    if (program && cli_unknown_code(program, unknown, sizeof unknown)) cli_note("%s", unknown);
    cli_program_close_other(program);
}

void cli_program_close_other(ntr_program *program) {
    const char *text;

    if (program) ntr_program_check_files(program);
    for (size_t i = 0; program && (text = ntr_program_damage(program, i)); i++)
        if (cli_first_time("damage", text)) cli_doubt("%s", text);
    ntr_program_free(program);
}

void cli_debug_info_close(ntr_debug_info *debug) {
    const char *text;

    for (size_t i = 0; debug && (text = ntr_debug_info_damage(debug, i)); i++)
        if (cli_first_time("damage", text)) cli_doubt("%s", text);
    ntr_debug_info_free(debug);
}

/* ---- images without symbols */

enum { SHOWN = 3 };

/* Instructions in functions of an image that have no symbol. */
struct nameless {
    const char *image; /* without folders */
    uint64_t count;
};

static const char *without_folders(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Returns the image of a function that is named by image and address, or NULL. */
static const char *image_of(const ntr_function *function) {
    const char *image = function->image ? without_folders(function->image) : NULL;
    const size_t length = image ? strlen(image) : 0;
    const bool place = image && function->name && strncmp(function->name, image, length) == 0 &&
                       strncmp(function->name + length, "+0x", 3) == 0;

    return place ? image : NULL;
}

static void add(struct nameless *list, size_t *count, size_t room, const char *image, uint64_t instructions) {
    size_t i = 0;

    while (i < *count && strcmp(list[i].image, image) != 0) i++;
    if (i == room) return;
    if (i == *count) list[(*count)++] = (struct nameless){.image = image};
    list[i].count += instructions;
}

static int by_count(const void *left, const void *right) {
    const struct nameless *a = left, *b = right;
    return (a->count < b->count) - (a->count > b->count);
}

/* Writes "python3.13 43 %, libc.so.6 4 %". */
static void write_list(char *text, size_t size, const struct nameless *list, size_t count, uint64_t whole) {
    size_t length = 0;

    for (size_t i = 0; i < count && i < SHOWN && length < size && list[i].count * 100 >= whole; i++) {
        int put = snprintf(text + length, size - length, "%s%.100s %.0f %%", i ? ", " : "", list[i].image,
                           100.0 * (double)list[i].count / (double)whole);
        length += put > 0 ? (size_t)put : 0;
    }
}

void cli_debug_files_report(const ntr_calltree *tree, const ntr_functions *functions) {
    struct nameless list[64];
    char text[400] = "";
    uint64_t whole = 0;
    size_t count = 0, images = 0;

    while (ntr_functions_get(functions, (uint32_t)count)) count++;
    ntr_call_sum *sums = calloc(count + 1, sizeof *sums);
    if (!sums) return;
    ntr_calltree_sums(tree, sums, count);
    for (size_t i = 0; i < count; i++) {
        const char *image = image_of(ntr_functions_get(functions, (uint32_t)i));
        whole += sums[i].self_instructions;
        if (image) add(list, &images, sizeof list / sizeof list[0], image, sums[i].self_instructions);
    }
    free(sums);
    qsort(list, images, sizeof list[0], by_count);
    if (whole) write_list(text, sizeof text, list, images, whole);
    if (*text)
        cli_note("instructions in functions without symbols: %s; install debug symbols, or use --debug-path or "
                 "DEBUGINFOD_URLS",
                 text);
}

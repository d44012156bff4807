/* What `ntrace run --machine` reads about a guest: symbols of a kernel as text (first byte 0) and as the tables of an
 * image (1, 2: 32 and 64 bits), an archive of files with the pages of their code (3), the tasks of a bundle (4). */
#include "capture/guest_files.h"
#include "capture/guest_unpack.h"
#include "capture/page_index.h"
#include "fuzz.h"
#include "program/kallsyms.h"

#include <ntrace/tasks.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KINDS = 5, FILES_MOST = 1000, SYMBOLS_MOST = 100000 };

size_t fuzz_stream_at(const uint8_t *data, size_t size) {
    (void)data, (void)size;
    return SIZE_MAX;
}

/* ---- symbols */

static int take_symbol(void *user, uint64_t address, char type, const char *name) {
    unsigned *count = user;

    (void)address, (void)type;
    fuzz_must(strlen(name) <= NTR_KALLSYMS_NAME_MAX, "a name has at most NTR_KALLSYMS_NAME_MAX bytes");
    return ++*count == SYMBOLS_MOST;
}

static void read_symbols(unsigned kind, ntr_bytes bytes) {
    unsigned count = 0;
    size_t line = 0;

    if (kind) {
        ntr_kallsyms_tables(bytes, kind == 1 ? 4 : 8, take_symbol, &count);
        return;
    }
    ntr_status status = ntr_kallsyms_text(bytes, take_symbol, &count, &line);
    fuzz_must(status != NTR_E_FORMAT || line, "a line that is not valid has a number");
}

/* ---- files */

struct files {
    ntr_page_index *index;
    ntr_bytes archive; /* as it was given */
    uint32_t count;
};

static bool take_file(void *user, const char *name, const char *path, ntr_bytes bytes) {
    struct files *files = user;

    fuzz_must(*name && (!path || bytes.size == files->archive.size), "a file of an archive has a name, and no path");
    fuzz_must(bytes.size <= NTR_GUEST_UNPACKED_MOST, "what is unpacked is limited");
    return files->count < FILES_MOST && ntr_page_index_add(files->index, files->count++, bytes);
}

static void read_files(ntr_bytes bytes) {
    int fd;
    struct ntr_capture_reason reason = {0};
    struct files files = {.index = ntr_page_index_new(NULL), .archive = bytes};
    ntr_page_seen seen[2] = {{1, 0x10000, 0x1234}, {1, 0x11000, 0x5678}};
    ntr_page_match *matches = NULL;
    size_t count;
    ntr_bytes archive;

    if (!files.index) return;
    ntr_guest_files_read(fuzz_file(bytes, &fd), take_file, &files, &archive, &reason);
    if (ntr_page_index_match(files.index, seen, 2, &matches, &count) == NTR_OK) free(matches);
    ntr_page_index_free(files.index);
    ntr_guest_files_release(&archive);
    close(fd);
}

/* ---- tasks */

static void read_tasks(ntr_bytes bytes) {
    ntr_tasks *tasks = NULL;
    size_t line = 0, count;
    ntr_status status = ntr_tasks_read(&tasks, bytes, NULL, &line);

    fuzz_must(status != NTR_E_FORMAT || line, "a line that is not valid has a number");
    for (uint16_t src = 0; status == NTR_OK && src < 8; src++) {
        const ntr_task *list = ntr_tasks_of(tasks, src, &count);
        for (size_t i = 1; i < count; i++)
            fuzz_must(list[i - 1].position <= list[i].position, "tasks are sorted by position");
    }
    ntr_tasks_free(tasks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_tape tape = {data, size, 0};
    unsigned kind = fuzz_byte(&tape) % KINDS;
    ntr_bytes bytes = fuzz_rest(&tape);

    if (kind < 3) read_symbols(kind, bytes);
    if (kind == 3) read_files(bytes);
    if (kind == 4) read_tasks(bytes);
    return 0;
}

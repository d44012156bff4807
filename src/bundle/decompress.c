/* libarchive is loaded when it is needed: with it come libxml2, ICU and libstdc++, whose relocations take longer than
 * many commands do. */
#include "bundle/decompress.h"
#include "bundle/files.h"
#include "load/library.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdbool.h>
#include <stdio.h>

enum { DECOMPRESSED_CHUNK = 1 << 16 };

/* Not archive_read_support_filter_all, which starts programs for other forms. */
#define FILTERS(X)                                                                                                     \
    X(archive_read_support_filter_gzip)                                                                                \
    X(archive_read_support_filter_bzip2)                                                                               \
    X(archive_read_support_filter_lzma)                                                                                \
    X(archive_read_support_filter_xz)                                                                                  \
    X(archive_read_support_filter_lz4)                                                                                 \
    X(archive_read_support_filter_zstd)
#define FUNCTIONS(X)                                                                                                   \
    FILTERS(X)                                                                                                         \
    X(archive_read_new)                                                                                                \
    X(archive_read_support_format_raw)                                                                                 \
    X(archive_read_open_memory)                                                                                        \
    X(archive_read_next_header)                                                                                        \
    X(archive_read_data)                                                                                               \
    X(archive_error_string)                                                                                            \
    X(archive_read_free)

typedef struct libarchive {
    void *library;
#define DECLARE(name) __typeof__(name) *name;
    FUNCTIONS(DECLARE)
#undef DECLARE
} libarchive;

static bool load(libarchive *la) {
    la->library = ntr_library_open("libarchive.so.13");
    bool found = la->library != NULL;
#define FIND(name) found = found && ntr_library_find(la->library, #name, &la->name);
    FUNCTIONS(FIND)
#undef FIND
    return found;
}

static bool open_bytes(const libarchive *la, struct archive *from, ntr_bytes bytes) {
    struct archive_entry *entry;

#define SUPPORT(name) la->name(from);
    FILTERS(SUPPORT)
#undef SUPPORT
    la->archive_read_support_format_raw(from);
    return la->archive_read_open_memory(from, bytes.data, bytes.size) == ARCHIVE_OK &&
           la->archive_read_next_header(from, &entry) == ARCHIVE_OK;
}

static ntr_status fail(const libarchive *la, struct archive *from, char why[NTR_DECOMPRESS_REASON]) {
    const char *text = la->archive_error_string(from);

    snprintf(why, NTR_DECOMPRESS_REASON, "%s", text ? text : "the compressed data is damaged");
    return NTR_E_DECOMPRESS;
}

static ntr_status copy(const libarchive *la, struct archive *from, int file, uint64_t most,
                       char why[NTR_DECOMPRESS_REASON]) {
    char chunk[DECOMPRESSED_CHUNK];
    uint64_t sum = 0;
    la_ssize_t n;

    while ((n = la->archive_read_data(from, chunk, sizeof chunk)) > 0) {
        sum += (uint64_t)n;
        if (sum > most) return NTR_E_LIMIT;
        if (!ntr_write_all(file, chunk, (size_t)n)) return NTR_E_IO;
    }
    return n == 0 ? NTR_OK : fail(la, from, why);
}

/* A library that is there but lacks a function is an error and not a matter of what is installed. */
ntr_status ntr_decompress(ntr_bytes bytes, int file, uint64_t most, char why[NTR_DECOMPRESS_REASON]) {
    libarchive la = {0};
    ntr_status status = NTR_E_MEMORY;

    *why = 0;
    if (load(&la)) {
        struct archive *from = la.archive_read_new();
        if (from) status = open_bytes(&la, from, bytes) ? copy(&la, from, file, most, why) : fail(&la, from, why);
        if (from) la.archive_read_free(from);
    } else {
        status = la.library ? NTR_E_DECOMPRESS : NTR_E_UNSUPPORTED;
        snprintf(why, NTR_DECOMPRESS_REASON, "compressed, and there is no libarchive");
    }
    ntr_library_close(la.library);
    return status;
}

#include "capture/guest_unpack.h"

#include <archive.h>
#include <archive_entry.h>

enum { DECOMPRESSED_CHUNK = 1 << 16 };

/* Not archive_read_support_filter_all, which starts programs for other forms. */
static bool open_bytes(struct archive *from, ntr_bytes bytes) {
    struct archive_entry *entry;

    archive_read_support_filter_gzip(from);
    archive_read_support_filter_bzip2(from);
    archive_read_support_filter_lzma(from);
    archive_read_support_filter_xz(from);
    archive_read_support_filter_lz4(from);
    archive_read_support_filter_zstd(from);
    archive_read_support_format_raw(from);
    return archive_read_open_memory(from, bytes.data, bytes.size) == ARCHIVE_OK &&
           archive_read_next_header(from, &entry) == ARCHIVE_OK;
}

static ntr_status copy(struct archive *from, int file, const char *path, struct ntr_capture_reason *reason) {
    static const char too_large[] = "%s: has more than 2 GiB when it is decompressed";
    char chunk[DECOMPRESSED_CHUNK];
    uint64_t sum = 0;
    la_ssize_t n;

    while ((n = archive_read_data(from, chunk, sizeof chunk)) > 0) {
        sum += (uint64_t)n;
        if (sum > NTR_GUEST_UNPACKED_MOST) return ntr_capture_fail(reason, NTR_E_LIMIT, too_large, path);
        if (!ntr_guest_put(file, chunk, (size_t)n)) return ntr_capture_fail_errno(reason, path);
    }
    if (n == 0) return NTR_OK;
    const char *why = archive_error_string(from);
    return ntr_capture_fail(reason, NTR_E_DECOMPRESS, "%s: %s", path, why ? why : "the compressed data is damaged");
}

ntr_status ntr_guest_decompress(ntr_bytes bytes, int file, const char *path, struct ntr_capture_reason *reason) {
    struct archive *from = archive_read_new();
    ntr_status status;

    if (!from) return ntr_capture_fail_memory(reason);
    if (open_bytes(from, bytes)) {
        status = copy(from, file, path, reason);
    } else {
        const char *why = archive_error_string(from);
        status = ntr_capture_fail(reason, NTR_E_DECOMPRESS, "%s: %s", path, why ? why : "cannot be decompressed");
    }
    archive_read_free(from);
    return status;
}

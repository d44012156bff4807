#include "capture/guest_files.h"
#include "bundle/zstd_read.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CPIO_HEAD = 110, CPIO_DIGITS = 8, CPIO_MODE = 14, CPIO_SIZE = 54, CPIO_NAME = 94, GUEST_NAME_MAX = 4096 };

static bool is_elf(ntr_bytes bytes) {
    return bytes.size > EI_NIDENT && memcmp(bytes.data, ELFMAG, SELFMAG) == 0;
}

bool ntr_guest_file_map(const char *path, ntr_bytes *bytes) {
    struct stat about;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    void *mapping = MAP_FAILED;

    *bytes = (ntr_bytes){NULL, 0};
    if (file < 0) return false;
    if (fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0)
        mapping = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (mapping == MAP_FAILED) return false;
    *bytes = (ntr_bytes){mapping, (size_t)about.st_size};
    return true;
}

void ntr_guest_files_release(ntr_bytes *archive) {
    if (archive->data) munmap((void *)(uintptr_t)archive->data, archive->size);
    *archive = (ntr_bytes){NULL, 0};
}

/* ---- folders */

static bool take_file(const FTSENT *entry, size_t root, ntr_guest_file_take take, void *user) {
    ntr_bytes bytes;
    if (entry->fts_info != FTS_F || !ntr_guest_file_map(entry->fts_accpath, &bytes)) return true;
    bool good = !is_elf(bytes) || take(user, entry->fts_path + root, entry->fts_path, bytes);
    ntr_guest_files_release(&bytes);
    return good;
}

static int by_name(const FTSENT **left, const FTSENT **right) {
    return strcmp((*left)->fts_name, (*right)->fts_name);
}

static ntr_status read_folder(const char *path, ntr_guest_file_take take, void *user, struct ntr_capture_reason *reason) {
    char *const roots[] = {(char *)(uintptr_t)path, NULL};
    size_t root = strlen(path);
    bool good = true;
    FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, by_name);

    if (!walk) return ntr_capture_fail_errno(reason, path);
    while (root > 1 && path[root - 1] == '/') root--;
    for (FTSENT *entry; good && (entry = fts_read(walk));) good = take_file(entry, root, take, user);
    fts_close(walk);
    return good ? NTR_OK : ntr_capture_fail_memory(reason);
}

/* ---- cpio: a head of hexadecimal digits, the name with NUL, the data; both padded to 4 bytes */

static bool take_number(const uint8_t *at, size_t *number) {
    *number = 0;
    for (unsigned i = 0; i < CPIO_DIGITS; i++) {
        unsigned c = at[i], lower = c | 0x20;
        if (c >= '0' && c <= '9')
            *number = *number << 4 | (c - '0');
        else if (lower >= 'a' && lower <= 'f')
            *number = *number << 4 | (lower - 'a' + 10);
        else
            return false;
    }
    return true;
}

static size_t padded(size_t at) {
    return (at + 3) & ~(size_t)3;
}

/* Reads the entry at *at and moves behind it. Returns false at the end, and where the archive is damaged. */
static bool take_entry(ntr_bytes archive, size_t *at, char name[GUEST_NAME_MAX], size_t *mode, ntr_bytes *data) {
    size_t name_size, size;
    while (*at < archive.size && !archive.data[*at]) ++*at; /* archives may follow each other, with zeros between */
    if (*at > archive.size || archive.size - *at < CPIO_HEAD) return false;
    const uint8_t *head = archive.data + *at;
    if (memcmp(head, "070701", 6) != 0 && memcmp(head, "070702", 6) != 0) return false;
    if (!take_number(head + CPIO_MODE, mode) || !take_number(head + CPIO_SIZE, &size) ||
        !take_number(head + CPIO_NAME, &name_size))
        return false;
    const size_t begin = padded(*at + CPIO_HEAD + name_size);
    if (!name_size || name_size > GUEST_NAME_MAX || begin > archive.size || size > archive.size - begin) return false;
    memcpy(name, head + CPIO_HEAD, name_size);
    name[name_size - 1] = 0;
    *data = (ntr_bytes){archive.data + begin, size};
    *at = padded(begin + size);
    return true;
}

static bool read_archive(ntr_bytes archive, ntr_guest_file_take take, void *user) {
    char name[GUEST_NAME_MAX + 1];
    size_t at = 0, mode;
    ntr_bytes data;
    name[0] = '/';
    while (take_entry(archive, &at, name + 1, &mode, &data)) {
        const char *shown = name[1] == '.' && name[2] == '/' ? name + 2 : name[1] == '/' ? name + 1 : name;
        if (S_ISREG(mode) && is_elf(data) && !take(user, shown, NULL, data)) return false;
    }
    return true;
}

/* ---- compressed archives; one that is not compressed may precede them, as in initial file systems with microcode */

static bool is_zstd(ntr_bytes bytes) {
    static const uint8_t magic[] = {0x28, 0xb5, 0x2f, 0xfd};
    return bytes.size > sizeof magic && memcmp(bytes.data, magic, sizeof magic) == 0;
}

/* Where the part that is not compressed ends. */
static size_t plain_size(ntr_bytes archive) {
    char name[GUEST_NAME_MAX];
    size_t at = 0, mode;
    ntr_bytes data;

    while (take_entry(archive, &at, name, &mode, &data)) {}
    return at < archive.size ? at : archive.size;
}

static bool put_all(int file, ntr_bytes bytes) {
    while (bytes.size) {
        ssize_t n = write(file, bytes.data, bytes.size);
        if (n < 0 && errno != EINTR) return false;
        if (n > 0) bytes = (ntr_bytes){bytes.data + n, bytes.size - (size_t)n};
    }
    return true;
}

static ntr_status decompress(int file, ntr_bytes bytes, const char *path, struct ntr_capture_reason *reason) {
    struct ntr_zstd_reader *reader;
    ntr_bytes span;
    ntr_status status = ntr_zstd_reader_new(&reader, NULL);

    if (status == NTR_E_UNSUPPORTED)
        return ntr_capture_fail(reason, status, "%s: compressed with zstd, which this build cannot read", path);
    if (status != NTR_OK) return ntr_capture_fail_memory(reason);
    ntr_zstd_reader_feed(reader, bytes.data, bytes.size);
    while ((status = ntr_zstd_reader_next(reader, &span)) == NTR_OK && span.size) {
        if (put_all(file, span)) continue;
        status = ntr_capture_fail_errno(reason, path);
        break;
    }
    if (status == NTR_OK) status = ntr_zstd_reader_finish(reader);
    if (status != NTR_OK && status != NTR_E_IO)
        ntr_capture_fail(reason, status, "%s: %s", path, ntr_zstd_reader_error(reader));
    ntr_zstd_reader_free(reader);
    return status;
}

/* Replaces the mapped archive by one in memory that is not compressed. */
static ntr_status unpack(ntr_bytes *archive, size_t plain, const char *path, struct ntr_capture_reason *reason) {
    int file = memfd_create("ntrace-archive", MFD_CLOEXEC);
    char name[64];
    ntr_bytes unpacked = {NULL, 0};

    if (file < 0) return ntr_capture_fail_errno(reason, path);
    bool good = put_all(file, (ntr_bytes){archive->data, plain});
    ntr_status status = good ? decompress(file, (ntr_bytes){archive->data + plain, archive->size - plain}, path, reason)
                             : ntr_capture_fail_errno(reason, path);
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    if (status == NTR_OK && !ntr_guest_file_map(name, &unpacked)) status = ntr_capture_fail_errno(reason, path);
    close(file);
    if (status != NTR_OK) return status;
    ntr_guest_files_release(archive);
    *archive = unpacked;
    return NTR_OK;
}

ntr_status ntr_guest_files_read(const char *path, ntr_guest_file_take take, void *user, ntr_bytes *archive,
                                struct ntr_capture_reason *reason) {
    struct stat about;
    *archive = (ntr_bytes){NULL, 0};
    if (stat(path, &about)) return ntr_capture_fail_errno(reason, path);
    if (S_ISDIR(about.st_mode)) return read_folder(path, take, user, reason);
    if (!ntr_guest_file_map(path, archive)) return ntr_capture_fail_errno(reason, path);
    size_t plain = plain_size(*archive);
    if (is_zstd((ntr_bytes){archive->data + plain, archive->size - plain})) {
        ntr_status status = unpack(archive, plain, path, reason);
        if (status != NTR_OK) return status;
    }
    if (archive->size < CPIO_HEAD || memcmp(archive->data, "07070", 5) != 0)
        return ntr_capture_fail(reason, NTR_E_FORMAT,
                                "%s: neither a folder nor a cpio archive that is plain or compressed with zstd", path);
    return read_archive(*archive, take, user) ? NTR_OK : ntr_capture_fail_memory(reason);
}

#include "capture/guest_files.h"
#include "bundle/decompress.h"
#include "bundle/files.h"
#include "capture/guest_partitions.h"
#include "capture/guest_unpack.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CPIO_HEAD = 110, CPIO_DIGITS = 8, CPIO_MODE = 14, CPIO_SIZE = 54, CPIO_NAME = 94 };

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

static bool is_unreadable(const FTSENT *entry) {
    return entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR || entry->fts_info == FTS_NS;
}

static bool take_file(const FTSENT *entry, size_t root, ntr_guest_file_take take, void *user,
                      struct ntr_capture_reason *reason) {
    ntr_bytes bytes;
    if (is_unreadable(entry)) {
        errno = entry->fts_errno;
        ntr_capture_fail_errno(reason, entry->fts_path);
        return true;
    }
    if (entry->fts_info != FTS_F || entry->fts_statp->st_size == 0) return true;
    if (!ntr_guest_file_map(entry->fts_accpath, &bytes)) {
        ntr_capture_fail_errno(reason, entry->fts_path);
        return true;
    }
    bool good = !is_elf(bytes) || take(user, entry->fts_path + root, entry->fts_path, bytes);
    ntr_guest_files_release(&bytes);
    return good;
}

static int by_name(const FTSENT **left, const FTSENT **right) {
    return strcmp((*left)->fts_name, (*right)->fts_name);
}

static ntr_status read_folder(const char *path, ntr_guest_file_take take, void *user,
                              struct ntr_capture_reason *reason) {
    char *const roots[] = {(char *)(uintptr_t)path, NULL};
    size_t root = strlen(path);
    bool good = true;
    FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, by_name);

    if (!walk) return ntr_capture_fail_errno(reason, path);
    while (root > 1 && path[root - 1] == '/') root--;
    errno = 0;
    for (FTSENT *entry; good && (entry = fts_read(walk)); errno = 0) good = take_file(entry, root, take, user, reason);
    const bool complete = errno == 0;
    if (good && !complete) ntr_capture_fail_errno(reason, path);
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
static bool take_entry(ntr_bytes archive, size_t *at, char name[NTR_GUEST_NAME_MAX], size_t *mode, ntr_bytes *data) {
    size_t name_size, size;
    while (*at < archive.size && !archive.data[*at]) ++*at; /* archives may follow each other, with zeros between */
    if (*at > archive.size || archive.size - *at < CPIO_HEAD) return false;
    const uint8_t *head = archive.data + *at;
    if (memcmp(head, "070701", 6) != 0 && memcmp(head, "070702", 6) != 0) return false;
    if (!take_number(head + CPIO_MODE, mode) || !take_number(head + CPIO_SIZE, &size) ||
        !take_number(head + CPIO_NAME, &name_size))
        return false;
    const size_t begin = padded(*at + CPIO_HEAD + name_size);
    if (!name_size || name_size > NTR_GUEST_NAME_MAX || begin > archive.size || size > archive.size - begin)
        return false;
    memcpy(name, head + CPIO_HEAD, name_size);
    name[name_size - 1] = 0;
    *data = (ntr_bytes){archive.data + begin, size};
    *at = padded(begin + size);
    return true;
}

/* Sets *whole: every entry was read, and only zeros are behind the last one. */
static bool read_archive(ntr_bytes archive, ntr_guest_file_take take, void *user, bool *whole) {
    char name[NTR_GUEST_NAME_MAX + 1] = "/";
    size_t at = 0, mode;
    ntr_bytes data;
    while (take_entry(archive, &at, name + 1, &mode, &data)) {
        const char *shown = name[1] == '.' && name[2] == '/' ? name + 2 : name[1] == '/' ? name + 1 : name;
        if (S_ISREG(mode) && is_elf(data) && !take(user, shown, NULL, data)) return false;
    }
    *whole = strcmp(name + 1, "TRAILER!!!") == 0 && at >= archive.size;
    return true;
}

/* ---- archives that are compressed, or inside an image --------------------------------------------------------------
 */

enum guest_form { GUEST_UNKNOWN, GUEST_PLAIN, GUEST_ELF, GUEST_COMPRESSED, GUEST_EXT, GUEST_DISK };

enum { EXT_MAGIC = 0x438 };
#define EXT_MAGIC_BYTES "\x53\xef"

static enum guest_form form_of(ntr_bytes bytes) {
    static const struct {
        enum guest_form form;
        unsigned at, length;
        const char *magic;
    } forms[] = {
        {GUEST_PLAIN, 0, 5, "07070"},
        {GUEST_ELF, 0, SELFMAG, ELFMAG},
        {GUEST_COMPRESSED, 0, 2, "\x1f\x8b"},         /* gzip */
        {GUEST_COMPRESSED, 0, 3, "BZh"},              /* bzip2 */
        {GUEST_COMPRESSED, 0, 3, "\x5d\0\0"},         /* lzma */
        {GUEST_COMPRESSED, 0, 6, "\xfd\x37zXZ\0"},    /* xz */
        {GUEST_COMPRESSED, 0, 4, "\x02\x21\x4c\x18"}, /* lz4, as Linux uses it */
        {GUEST_COMPRESSED, 0, 4, "\x04\x22\x4d\x18"}, /* lz4 */
        {GUEST_COMPRESSED, 0, 4, "\x28\xb5\x2f\xfd"}, /* zstd */
        {GUEST_EXT, EXT_MAGIC, 2, EXT_MAGIC_BYTES},
    };

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (bytes.size >= forms[i].at + forms[i].length &&
            memcmp(bytes.data + forms[i].at, forms[i].magic, forms[i].length) == 0)
            return forms[i].form;
    uint64_t begins[NTR_GUEST_PARTITIONS_MOST];
    return ntr_guest_partitions(bytes, begins) ? GUEST_DISK : GUEST_UNKNOWN;
}

/* Where the part that is not compressed ends. One may precede the other, as in initial file systems with microcode. */
static size_t plain_size(ntr_bytes archive) {
    char name[NTR_GUEST_NAME_MAX];
    size_t at = 0, mode;
    ntr_bytes data;

    while (take_entry(archive, &at, name, &mode, &data)) {
    }
    return at < archive.size ? at : archive.size;
}

/* All partitions with a file system of Linux, one archive behind the other. */
static ntr_status read_disk(int file, ntr_bytes disk, const char *path, struct ntr_capture_reason *reason) {
    uint64_t begins[NTR_GUEST_PARTITIONS_MOST], left = NTR_GUEST_UNPACKED_MOST;
    const size_t count = ntr_guest_partitions(disk, begins);
    ntr_status status = NTR_OK;
    unsigned found = 0;

    for (size_t i = 0; i < count && status == NTR_OK; i++) {
        if (disk.size - begins[i] < EXT_MAGIC + 2 || memcmp(disk.data + begins[i] + EXT_MAGIC, EXT_MAGIC_BYTES, 2) != 0)
            continue;
        found++;
        status = ntr_guest_read_ext(path, begins[i], file, &left, reason);
    }
    if (found || status != NTR_OK) return status;
    return ntr_capture_fail(reason, NTR_E_FORMAT, "%s: none of its %zu partitions has ext2, ext3 or ext4", path, count);
}

static ntr_status decompress(ntr_bytes bytes, int file, const char *path, struct ntr_capture_reason *reason) {
    char why[NTR_DECOMPRESS_REASON];
    const ntr_status status = ntr_decompress(bytes, file, NTR_GUEST_UNPACKED_MOST, why);

    switch (status) {
    case NTR_OK: return NTR_OK;
    case NTR_E_MEMORY: return ntr_capture_fail_memory(reason);
    case NTR_E_IO: return ntr_capture_fail_errno(reason, path);
    case NTR_E_LIMIT: return ntr_capture_fail(reason, status, "%s: has more than 2 GiB when it is decompressed", path);
    case NTR_E_UNSUPPORTED:
        return ntr_capture_fail(reason, status, "%s: %s; decompress it with gzip -d, xz -d or zstd -d", path, why);
    default: return ntr_capture_fail(reason, status, "%s: %s", path, why);
    }
}

static ntr_status fill(int file, ntr_bytes archive, size_t plain, const char *path, struct ntr_capture_reason *reason) {
    uint64_t left = NTR_GUEST_UNPACKED_MOST;
    const enum guest_form form = form_of(archive);

    if (form == GUEST_EXT) return ntr_guest_read_ext(path, 0, file, &left, reason);
    if (form == GUEST_DISK) return read_disk(file, archive, path, reason);
    if (!ntr_write_all(file, archive.data, plain)) return ntr_capture_fail_errno(reason, path);
    return decompress((ntr_bytes){archive.data + plain, archive.size - plain}, file, path, reason);
}

/* Replaces the mapped archive by a plain one in memory. */
static ntr_status unpack(ntr_bytes *archive, size_t plain, const char *path, struct ntr_capture_reason *reason) {
    int file = memfd_create("ntrace-archive", MFD_CLOEXEC);
    char name[64];
    ntr_bytes unpacked = {NULL, 0};

    if (file < 0) return ntr_capture_fail_errno(reason, path);
    ntr_status status = fill(file, *archive, plain, path, reason);
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    if (status == NTR_OK && !ntr_guest_file_map(name, &unpacked))
        status = ntr_capture_fail(reason, NTR_E_FORMAT, "%s: there is nothing in it", path);
    close(file);
    if (status != NTR_OK) return status;
    ntr_guest_files_release(archive);
    *archive = unpacked;
    return NTR_OK;
}

static ntr_status fail_form(const char *path, struct ntr_capture_reason *reason) {
    return ntr_capture_fail(
        reason, NTR_E_FORMAT,
        "%s: expected a folder, an archive of cpio, also compressed, an image of ext2, ext3 or ext4, a disk with partitions, or an ELF file",
        path);
}

/* ---- */

ntr_status ntr_guest_files_check(const char *path, struct ntr_capture_reason *reason) {
    struct stat about;
    ntr_bytes bytes;

    if (stat(path, &about) || access(path, R_OK)) return ntr_capture_fail_errno(reason, path);
    if (S_ISDIR(about.st_mode)) return NTR_OK;
    if (!ntr_guest_file_map(path, &bytes)) return fail_form(path, reason);
    const enum guest_form form = form_of(bytes);
    ntr_guest_files_release(&bytes);
    return form == GUEST_UNKNOWN ? fail_form(path, reason) : NTR_OK;
}

ntr_status ntr_guest_files_read(const char *path, ntr_guest_file_take take, void *user, ntr_bytes *archive,
                                struct ntr_capture_reason *reason) {
    struct stat about;
    bool whole_archive = false;
    *archive = (ntr_bytes){NULL, 0};
    *reason->text = 0;
    if (stat(path, &about)) return ntr_capture_fail_errno(reason, path);
    if (S_ISDIR(about.st_mode)) return read_folder(path, take, user, reason);
    if (!ntr_guest_file_map(path, archive)) return ntr_capture_fail_errno(reason, path);
    const enum guest_form whole = form_of(*archive);
    if (whole == GUEST_ELF) return take(user, path, path, *archive) ? NTR_OK : ntr_capture_fail_memory(reason);
    const size_t plain = plain_size(*archive);
    const enum guest_form rest = form_of((ntr_bytes){archive->data + plain, archive->size - plain});
    if (whole == GUEST_EXT || whole == GUEST_DISK || rest == GUEST_COMPRESSED) {
        ntr_status status = unpack(archive, plain, path, reason);
        if (status != NTR_OK) return status;
    }
    if (archive->size < CPIO_HEAD || form_of(*archive) != GUEST_PLAIN) return fail_form(path, reason);
    if (!read_archive(*archive, take, user, &whole_archive)) return ntr_capture_fail_memory(reason);
    if (!whole_archive)
        ntr_capture_fail(reason, NTR_E_FORMAT, "%s: the archive is damaged, or ends without the entry that ends it",
                         path);
    return NTR_OK;
}

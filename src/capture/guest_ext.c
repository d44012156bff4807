/* The ELF files of an ext2, ext3 or ext4 image, as an archive of cpio. Folders are kept in a list and read one after
 * the other; each inode is visited once, so a damaged image in which folders contain each other comes to an end. */
#include "base/allocator.h"
#include "capture/guest_unpack.h"
#include "bundle/files.h"

#include <elf.h>
#include <ext2fs/ext2fs.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXT_CHUNK = 1 << 16 };

struct folder {
    ext2_ino_t inode;
    char *name; /* with a slash at the end */
};

struct ext {
    ext2_filsys image;
    ext2fs_inode_bitmap seen;
    struct folder *folders;
    size_t count, capacity, next;
    uint64_t left; /* bytes that may still be written */
    uint64_t damaged; /* files and folders that could not be read as a whole */
    int file;      /* of the archive */
    ntr_status status;
};

/* ---- files */

/* A head of cpio (guest_files.c), and the name. Both are padded to 4 bytes. */
static bool put_head(const struct ext *ext, const char *name, uint64_t size, unsigned mode) {
    char head[NTR_GUEST_NAME_MAX + 128] = "";
    const unsigned name_size = (unsigned)strlen(name) + 1;
    const int n = snprintf(head, sizeof head, "070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%s", 0, mode,
                           0, 0, 1, 0, (unsigned)size, 0, 0, 0, 0, name_size, 0, name);
    return n > 0 && ntr_write_all(ext->file, head, ((size_t)n + 1 + 3) & ~(size_t)3);
}

static bool put_content(struct ext *ext, ext2_file_t from, uint64_t size) {
    static const char zeros[4];
    char chunk[EXT_CHUNK];
    bool whole = true;

    for (uint64_t at = 0; at < size;) {
        const unsigned want = size - at < EXT_CHUNK ? (unsigned)(size - at) : EXT_CHUNK;
        unsigned got = 0;
        if (ext2fs_file_read(from, chunk, want, &got) || got != want) {
            memset(chunk + got, 0, want - got); /* what is behind it has its place */
            whole = false;
        }
        if (!ntr_write_all(ext->file, chunk, want)) return false;
        at += want;
    }
    ext->damaged += !whole;
    return ntr_write_all(ext->file, zeros, -size & 3);
}

static bool begins_as_elf(struct ext *ext, ext2_file_t from) {
    char magic[SELFMAG];
    unsigned got;
    if (ext2fs_file_read(from, magic, sizeof magic, &got)) {
        ext->damaged++;
        return false;
    }
    if (got != sizeof magic || memcmp(magic, ELFMAG, SELFMAG) != 0) return false;
    const bool good = ext2fs_file_lseek(from, 0, EXT2_SEEK_SET, NULL) == 0;
    ext->damaged += !good;
    return good;
}

static void take_file(struct ext *ext, ext2_ino_t inode, const char *name, unsigned mode) {
    ext2_file_t from;
    __u64 size;

    if (ext2fs_file_open(ext->image, inode, 0, &from)) {
        ext->damaged++;
        return;
    }
    if (ext2fs_file_get_lsize(from, &size)) {
        ext->damaged++;
    } else if (begins_as_elf(ext, from)) {
        const uint64_t most = size + 2 * NTR_GUEST_NAME_MAX; /* with its head, name and padding */
        if (size > ext->left || most > ext->left)
            ext->status = NTR_E_LIMIT;
        else if (!put_head(ext, name, size, mode) || !put_content(ext, from, size))
            ext->status = NTR_E_IO;
        else
            ext->left -= most;
    }
    ext2fs_file_close(from);
}

/* ---- folders */

static void add_folder(struct ext *ext, ext2_ino_t inode, const char *name) {
    char *copy = strdup(name);

    if (!copy || ntr_reserve(NULL, (void **)&ext->folders, &ext->capacity, ext->count + 1, sizeof *ext->folders)) {
        free(copy);
        ext->status = NTR_E_MEMORY;
        return;
    }
    ext->folders[ext->count++] = (struct folder){inode, copy};
}

static bool is_new(struct ext *ext, ext2_ino_t inode) {
    if (inode > ext->image->super->s_inodes_count) ext->damaged++;
    if (!inode || inode > ext->image->super->s_inodes_count || ext2fs_test_inode_bitmap2(ext->seen, inode))
        return false;
    ext2fs_mark_inode_bitmap2(ext->seen, inode);
    return true;
}

static int take_entry(ext2_ino_t folder, int entry, struct ext2_dir_entry *found, int offset, int block_size,
                      char *block, void *user) {
    struct ext *ext = user;
    struct ext2_inode about;
    char name[NTR_GUEST_NAME_MAX];
    const int length = ext2fs_dirent_name_len(found);

    (void)folder, (void)offset, (void)block_size, (void)block;
    if (entry != DIRENT_OTHER_FILE || !is_new(ext, found->inode)) return 0;
    if (ext2fs_read_inode(ext->image, found->inode, &about) || !about.i_mode) { /* that of an inode without content */
        ext->damaged++;
        return 0;
    }
    const bool is_folder = LINUX_S_ISDIR(about.i_mode);
    const int n = snprintf(name, sizeof name, "%s%.*s%s", ext->folders[ext->next].name, length, found->name,
                           is_folder ? "/" : "");
    if (n < 0 || (size_t)n >= sizeof name) {
        ext->damaged++;
        return 0;
    }
    if (is_folder)
        add_folder(ext, found->inode, name);
    else if (LINUX_S_ISREG(about.i_mode))
        take_file(ext, found->inode, name, about.i_mode);
    return ext->status == NTR_OK ? 0 : DIRENT_ABORT;
}

static void read_folders(struct ext *ext) {
    if (ext2fs_allocate_inode_bitmap(ext->image, "seen", &ext->seen)) {
        ext->status = NTR_E_MEMORY;
        return;
    }
    ext2fs_mark_inode_bitmap2(ext->seen, EXT2_ROOT_INO);
    add_folder(ext, EXT2_ROOT_INO, "");
    for (; ext->next < ext->count && ext->status == NTR_OK; ext->next++)
        if (ext2fs_dir_iterate2(ext->image, ext->folders[ext->next].inode, 0, NULL, take_entry, ext)) ext->damaged++;
    if (ext->status == NTR_OK && !put_head(ext, "TRAILER!!!", 0, 0)) ext->status = NTR_E_IO;
}

static void release(struct ext *ext) {
    for (size_t i = 0; i < ext->count; i++) free(ext->folders[i].name);
    ntr_dealloc(NULL, ext->folders);
    if (ext->seen) ext2fs_free_inode_bitmap(ext->seen);
    ext2fs_close_free(&ext->image);
}

ntr_status ntr_guest_read_ext(const char *path, uint64_t begin, int file, uint64_t *left,
                              struct ntr_capture_reason *reason) {
    struct ext ext = {.file = file, .left = *left};
    char offset[sizeof "offset=" + 20];
    const int flags = EXT2_FLAG_64BITS | EXT2_FLAG_SOFTSUPP_FEATURES | EXT2_FLAG_IGNORE_CSUM_ERRORS;

    snprintf(offset, sizeof offset, "offset=%" PRIu64, begin);
    if (ext2fs_open2(path, offset, flags, 0, 0, unix_io_manager, &ext.image))
        return ntr_capture_fail(reason, NTR_E_FORMAT,
                                "%s: expected an image of ext2, ext3 or ext4, found a damaged one", path);
    read_folders(&ext);
    const ntr_status status = ext.status;
    const uint64_t damaged = ext.damaged;
    *left = ext.left;
    release(&ext);
    if (status == NTR_E_MEMORY) return ntr_capture_fail_memory(reason);
    if (status == NTR_E_LIMIT) return ntr_capture_fail(reason, status, "%s: its ELF files have more than 2 GiB", path);
    if (status) return ntr_capture_fail_errno(reason, path);
    if (damaged)
        ntr_capture_fail(reason, NTR_E_FORMAT, "%s: %" PRIu64 " of its files or folders cannot be read", path, damaged);
    return NTR_OK;
}

/* Pages of code in files: the index, and the files of a folder and of an archive. The files are made here. */
#include "../test.h"

#include "capture/guest_files.h"
#include "capture/page_index.h"
#include "channel/page_hash.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGES = 4, SIZE = PAGES * NTR_PAGE_BYTES - 100 };

/* An ELF file with one executable segment at `address`, whose pages have the byte `fill`, and differ by their number
 * unless it is 0. */
static uint8_t *make_file(uint64_t address, uint8_t fill) {
    uint8_t *file = calloc(1, PAGES * NTR_PAGE_BYTES);
    assert_non_null(file);
    for (unsigned page = 0; page < PAGES; page++)
        memset(file + page * NTR_PAGE_BYTES, fill ? (int)(fill + page) : 7, NTR_PAGE_BYTES);
    const Elf64_Ehdr head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                             .e_type = ET_DYN,
                             .e_machine = EM_RISCV,
                             .e_phoff = sizeof head,
                             .e_phnum = 1};
    const Elf64_Phdr segment = {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = address, .p_filesz = SIZE};
    memcpy(file, &head, sizeof head);
    memcpy(file + sizeof head, &segment, sizeof segment);
    memset(file + SIZE, 0, 100);
    return file;
}

static ntr_page_seen seen_at(uint64_t context, uint64_t address, const uint8_t *file, unsigned page) {
    return (ntr_page_seen){context, address + page * NTR_PAGE_BYTES, ntr_page_hash(file + page * NTR_PAGE_BYTES)};
}

static ntr_page_match *match(ntr_page_index *index, const ntr_page_seen *seen, size_t count, size_t expected) {
    ntr_page_match *found;
    size_t number;
    assert_int_equal(ntr_page_index_match(index, seen, count, &found, &number), NTR_OK);
    assert_int_equal(number, expected);
    return found;
}

static void pages_are_found(void **state) {
    (void)state;
    ntr_page_index *index = ntr_page_index_new(NULL);
    uint8_t *a = make_file(0x1000, 0x10), *b = make_file(0x10000, 0x40);
    assert_true(ntr_page_index_add(index, 0, (ntr_bytes){a, SIZE}));
    assert_true(ntr_page_index_add(index, 1, (ntr_bytes){b, SIZE}));
    const ntr_page_seen seen[] = {
        seen_at(5, 0x55001000, a, 1), seen_at(5, 0x55001000, a, 3), /* the last page is filled with zeros */
        seen_at(6, 0x7f010000, b, 2), seen_at(6, 0x55001000, a, 0), {6, 0x1234000, 99},
    };
    ntr_page_match *found = match(index, seen, 5, 3);
    assert_int_equal(found[0].file, 0);
    assert_int_equal(found[0].bias, 0x55000000);
    assert_int_equal(found[0].context, 5);
    assert_int_equal(found[1].context, 6);
    assert_int_equal(found[2].file, 1);
    assert_int_equal(found[2].bias, 0x7f000000);
    free(found);
    free(a);
    free(b);
    ntr_page_index_free(index);
}

/* A page that two files have says nothing alone; with a second page it does. */
static void common_pages_need_company(void **state) {
    (void)state;
    ntr_page_index *index = ntr_page_index_new(NULL);
    uint8_t *a = make_file(0, 0x10), *b = make_file(0, 0x20);
    memcpy(b + NTR_PAGE_BYTES, a + NTR_PAGE_BYTES, NTR_PAGE_BYTES);
    assert_true(ntr_page_index_add(index, 0, (ntr_bytes){a, SIZE}));
    assert_true(ntr_page_index_add(index, 1, (ntr_bytes){b, SIZE}));
    const ntr_page_seen seen[] = {seen_at(1, 0x9000, a, 1), seen_at(1, 0x9000, b, 2)};
    free(match(index, seen, 1, 0));
    ntr_page_match *found = match(index, seen, 2, 1);
    assert_int_equal(found[0].file, 1);
    assert_int_equal(found[0].bias, 0x9000);
    free(found);
    free(a);
    free(b);
    ntr_page_index_free(index);
}

static void damaged_files_have_no_pages(void **state) {
    (void)state;
    uint8_t *a = make_file(0x1000, 0x10);
    for (size_t at = 0; at < sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr); at++) {
        for (unsigned value = 0; value < 256; value += 85) {
            ntr_page_index *index = ntr_page_index_new(NULL);
            uint8_t before = a[at];
            a[at] = (uint8_t)value;
            assert_true(ntr_page_index_add(index, 0, (ntr_bytes){a, SIZE}));
            a[at] = before;
            ntr_page_index_free(index);
        }
    }
    ntr_page_index *index = ntr_page_index_new(NULL);
    for (size_t size = 0; size < 200; size++) assert_true(ntr_page_index_add(index, 0, (ntr_bytes){a, size}));
    ntr_page_index_free(index);
    free(a);
}

/* ---- files of a guest */

static char names[256];
static size_t bytes_taken;

static bool take(void *user, const char *name, const char *path, ntr_bytes bytes) {
    (void)path;
    strncat(names, name, sizeof names - strlen(names) - 2);
    strcat(names, " ");
    bytes_taken += bytes.size;
    return user == NULL;
}

static size_t put_entry(uint8_t *to, const char *name, unsigned mode, const void *data, size_t size) {
    const size_t name_size = strlen(name) + 1;
    size_t at = (size_t)sprintf((char *)to, "070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X", 1, mode, 0, 0,
                                1, 0, (unsigned)size, 0, 0, 0, 0, (unsigned)name_size, 0);
    memcpy(to + at, name, name_size);
    at = (at + name_size + 3) & ~(size_t)3;
    if (size) memcpy(to + at, data, size);
    return (at + size + 3) & ~(size_t)3;
}

static ntr_status read_bytes(const void *bytes, size_t size, struct ntr_capture_reason *reason, void *user) {
    char path[] = "/tmp/ntrace-guest-XXXXXX";
    ntr_bytes archive;
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, size), (ssize_t)size);
    close(file);
    names[0] = 0;
    bytes_taken = 0;
    ntr_status status = ntr_guest_files_read(path, take, user, &archive, reason);
    ntr_guest_files_release(&archive);
    unlink(path);
    return status;
}

static void archives_are_read(void **state) {
    (void)state;
    static uint8_t archive[1 << 16];
    struct ntr_capture_reason reason;
    uint8_t *a = make_file(0, 0x10);
    size_t at = put_entry(archive, "usr", S_IFDIR | 0755, NULL, 0);
    at += put_entry(archive + at, "init", S_IFREG | 0755, "#!/bin/sh\n", 10);
    at += put_entry(archive + at, "usr/one", S_IFREG | 0755, a, SIZE);
    at += put_entry(archive + at, "usr/link", S_IFLNK | 0777, "one", 3);
    at += put_entry(archive + at, "TRAILER!!!", 0, NULL, 0);
    at += 512; /* another archive behind zeros */
    at += put_entry(archive + at, "./two", S_IFREG | 0755, a, SIZE);
    assert_int_equal(read_bytes(archive, at, &reason, NULL), NTR_OK);
    assert_string_equal(names, "/usr/one /two ");
    assert_non_null(strstr(reason.text, "ends without the entry that ends it"));
    at += put_entry(archive + at, "TRAILER!!!", 0, NULL, 0);
    assert_int_equal(read_bytes(archive, at, &reason, NULL), NTR_OK);
    assert_string_equal(reason.text, "");
    assert_int_equal(bytes_taken, 2 * SIZE);
    assert_int_equal(read_bytes(archive, at, &reason, a), NTR_E_MEMORY);
    for (size_t size = 111; size < at; size += 613) {
        assert_int_equal(read_bytes(archive, size, &reason, NULL), NTR_OK);
        const bool at_end_of_first = strcmp(names, "/usr/one ") == 0; /* with its last entry, and zeros */
        assert_true(*reason.text || strcmp(names, "/usr/one /two ") == 0 || at_end_of_first);
    }
    assert_int_equal(read_bytes("names\n", 6, &reason, NULL), NTR_E_FORMAT);
    assert_non_null(strstr(reason.text, "expected a folder, an archive of cpio"));
    for (size_t i = 0; i < 400; i++) {
        uint8_t before = archive[i];
        archive[i] ^= 0x5a;
        ntr_status status = read_bytes(archive, at, &reason, NULL);
        assert_true(status == NTR_OK || status == NTR_E_FORMAT);
        archive[i] = before;
    }
    free(a);
}

/* ---- archives that other programs have compressed, and images that they have made */

static char work[] = "/tmp/ntrace-packed-XXXXXX";

/* Runs a command of the shell in the folder `work`. Returns false when it fails, as when a program is not there. */
static bool shell(const char *command) {
    char line[512];
    snprintf(line, sizeof line, "cd %s && PATH=$PATH:/usr/sbin:/sbin && { %s; } 2>/dev/null", work, command);
    return system(line) == 0;
}

static void put_file(const char *name, const void *bytes, size_t size) {
    char path[64];
    snprintf(path, sizeof path, "%s/%s", work, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static size_t get_file(const char *name, uint8_t *bytes, size_t room) {
    char path[64];
    snprintf(path, sizeof path, "%s/%s", work, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, room, file);
    assert_true(size < room);
    fclose(file);
    return size;
}

static int make_work(void **state) {
    (void)state;
    strcpy(work + sizeof work - 7, "XXXXXX");
    return mkdtemp(work) == NULL;
}

static int remove_work(void **state) {
    (void)state;
    shell("rm -r \"$PWD\"");
    return 0;
}

/* As the initial file systems of Debian are: a part that is not compressed, and one that is. */
static void compressed_archives_are_read(void **state) {
    static const char *const programs[] = {"gzip", "bzip2", "lzma", "xz", "lz4", "lz4 -l", "zstd"};
    static uint8_t archive[1 << 16], packed[1 << 16];
    struct ntr_capture_reason reason;
    unsigned programs_run = 0;
    uint8_t *a = make_file(0, 0x10);
    size_t plain = put_entry(packed, "one", S_IFREG | 0755, a, SIZE),
           size = put_entry(archive, "two", S_IFREG | 0755, a, SIZE);

    (void)state;
    plain += put_entry(packed + plain, "TRAILER!!!", 0, NULL, 0);
    size += put_entry(archive + size, "TRAILER!!!", 0, NULL, 0);
    put_file("archive", archive, size);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        char command[64];
        snprintf(command, sizeof command, "%s -c archive > packed", programs[i]);
        if (!shell(command)) continue; /* not installed */
        programs_run++;
        const size_t whole = plain + get_file("packed", packed + plain, sizeof packed - plain);
        const ntr_status status = read_bytes(packed, whole, &reason, NULL);
        if (status == NTR_E_UNSUPPORTED) SKIP_TEST("build-libarchive");
        assert_int_equal(status, NTR_OK);
        assert_string_equal(names, "/one /two ");
        assert_int_equal(read_bytes(packed + plain, whole - plain, &reason, NULL), NTR_OK);
        assert_string_equal(names, "/two ");
        if (i != 5)
            assert_int_equal(read_bytes(packed, whole - 5, &reason, NULL), NTR_E_DECOMPRESS); /* lz4 -l has no end */
        packed[plain + 12] ^= 0x55;
        assert_int_not_equal(read_bytes(packed, whole, &reason, NULL), NTR_E_MEMORY);
    }
    assert_true(programs_run >= 3); /* tools/deps installs gzip, xz and zstd */
    free(a);
}

static void images_are_read(void **state) {
    static const char *const forms[] = {"ext2 -b 1024", "ext3", "ext4", "ext4 -O inline_data"};
    static uint8_t image[4 << 20];
    struct ntr_capture_reason reason;
    uint8_t *a = make_file(0, 0x10);

    (void)state;
    assert_true(shell("mkdir -p root/usr/lib root/empty"));
    put_file("root/usr/lib/one", a, SIZE);
    put_file("root/two", a, SIZE);
    put_file("root/text", "names\n", 6);
    assert_true(shell("ln -s two root/link; ln root/two root/usr/again"));
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char command[128];
        snprintf(command, sizeof command, "rm -f image; mkfs.%.4s -q %s -d root image 3M > made", forms[i],
                 forms[i] + 4);
        if (!shell(command)) SKIP_TEST("mkfs");
        const size_t size = get_file("image", image, sizeof image);
        const ntr_status status = read_bytes(image, size, &reason, NULL);
        if (status == NTR_E_UNSUPPORTED) SKIP_TEST("build-libext2fs");
        assert_int_equal(status, NTR_OK);
        assert_true(strstr(names, "/usr/lib/one ") && (strstr(names, "/two ") || strstr(names, "/usr/again ")));
        assert_int_equal(bytes_taken, 2 * SIZE);
        assert_string_equal(reason.text, "");
        if (!shell("cp image hurt && debugfs -w -R 'clri /usr/lib/one' hurt")) SKIP_TEST("mkfs");
        static uint8_t hurt[4 << 20];
        assert_int_equal(read_bytes(hurt, get_file("hurt", hurt, sizeof hurt), &reason, NULL), NTR_OK);
        assert_null(strstr(names, "/usr/lib/one "));
        assert_non_null(strstr(reason.text, ": 1 of its files or folders cannot be read"));
        for (size_t at = 1024; at < size; at += 9770) { /* damaged: no crash, and an end */
            image[at] ^= 0xff;
            if (at % 7 == 0) read_bytes(image, size, &reason, NULL);
        }
        assert_int_not_equal(read_bytes(image, 3000, &reason, NULL), NTR_OK);
    }
    free(a);
}

static void folders_are_read(void **state) {
    (void)state;
    char folder[] = "/tmp/ntrace-guest-XXXXXX", path[64], other[64];
    struct ntr_capture_reason reason;
    ntr_bytes archive;
    uint8_t *a = make_file(0, 0x10);
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/lib", folder);
    snprintf(other, sizeof other, "%s/link", folder);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    assert_int_equal(fwrite(a, 1, SIZE, out), SIZE);
    fclose(out);
    assert_int_equal(symlink("lib", other), 0);
    names[0] = 0;
    assert_int_equal(ntr_guest_files_read(folder, take, NULL, &archive, &reason), NTR_OK);
    assert_string_equal(names, "/lib ");
    unlink(path);
    unlink(other);
    rmdir(folder);
    assert_int_equal(ntr_guest_files_read(folder, take, NULL, &archive, &reason), NTR_E_IO);
    free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(pages_are_found),
        TEST(common_pages_need_company),
        TEST(damaged_files_have_no_pages),
        TEST(archives_are_read),
        TEST(folders_are_read),
        cmocka_unit_test_setup_teardown(compressed_archives_are_read, make_work, remove_work),
        cmocka_unit_test_setup_teardown(images_are_read, make_work, remove_work),
    };
    return cmocka_run_group_tests_name("page_index", tests, NULL, NULL);
}

/* Partitions of a disk image. The tables are those of sfdisk, and some that are damaged. */
#include "../test.h"

#include "capture/guest_files.h"
#include "capture/guest_partitions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MIB = 1 << 20, DISK = 12 * MIB };

static char work[] = "/tmp/ntrace-disk-XXXXXX";
static uint8_t disk[DISK];
static char names[256];

/* Runs a command of the shell in the folder `work`. Returns false when it fails, as when a program is not there. */
static bool shell(const char *command) {
    char line[1024];
    snprintf(line, sizeof line, "cd %s && PATH=$PATH:/usr/sbin:/sbin && { %s; } >/dev/null 2>&1", work, command);
    return system(line) == 0;
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

static bool take(void *user, const char *name, const char *path, ntr_bytes bytes) {
    (void)user, (void)path, (void)bytes;
    strncat(names, name, sizeof names - strlen(names) - 2);
    strcat(names, " ");
    return true;
}

static ntr_status read_disk(const char *name, struct ntr_capture_reason *reason) {
    char path[64];
    ntr_bytes archive;

    snprintf(path, sizeof path, "%s/%s", work, name);
    names[0] = 0;
    const ntr_status status = ntr_guest_files_read(path, take, NULL, &archive, reason);
    ntr_guest_files_release(&archive);
    return status;
}

static void load(const char *name) {
    char path[64];
    snprintf(path, sizeof path, "%s/%s", work, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    memset(disk, 0, sizeof disk);
    assert_int_equal(fread(disk, 1, sizeof disk, file), sizeof disk);
    fclose(file);
}

/* A table, and where its partitions begin, in sectors of 512 bytes. The file systems are written to the first and the
 * last. */
static const struct {
    const char *text;
    size_t count;
    unsigned sectors[5];
} tables[] = {
    {"label: gpt\nstart=2048, size=6144, type=L\nstart=10240, size=6144, type=L\n", 2, {2048, 10240}},
    {"label: gpt\nstart=4096, size=6144, type=L\nstart=2048, size=1024, type=U\nstart=12288, size=6144, type=L\n",
     3,
     {4096, 2048, 12288}},
    {"label: dos\nstart=2048, size=6144, type=83\nstart=8192, size=1024, type=c\nstart=10240, size=6144, type=83\n",
     3,
     {2048, 8192, 10240}},
    {"label: dos\nstart=2048, size=6144, type=83\nstart=8192, type=f\nstart=9216, size=1000, type=83\nstart=12288, size=6144, type=83\n",
     3,
     {2048, 9216, 12288}},
};

static void tables_are_read(void **state) {
    uint64_t begins[NTR_GUEST_PARTITIONS_MOST];

    (void)state;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        char command[512];
        snprintf(command, sizeof command, "rm -f disk; truncate -s 12M disk; printf '%s' | sfdisk -q disk",
                 tables[i].text);
        if (!shell(command)) SKIP_TEST("mkfs");
        load("disk");
        assert_int_equal(ntr_guest_partitions((ntr_bytes){disk, DISK}, begins), tables[i].count);
        for (size_t k = 0; k < tables[i].count; k++) assert_int_equal(begins[k], tables[i].sectors[k] * 512u);
    }
}

static void files_of_all_partitions_are_found(void **state) {
    struct ntr_capture_reason reason;

    (void)state;
    if (!shell("mkdir -p a b && printf '\\177ELF one..........' >a/one && printf '\\177ELF two..........' >b/two && "
               "mkfs.ext4 -q -d a a.img 3M && mkfs.ext2 -q -d b b.img 3M"))
        SKIP_TEST("mkfs");
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        char command[512];
        const unsigned *begins = tables[i].sectors;
        snprintf(
            command, sizeof command,
            "rm -f disk; truncate -s 12M disk; printf '%s' | sfdisk -q disk && dd if=a.img of=disk seek=%u conv=notrunc && "
            "dd if=b.img of=disk seek=%u conv=notrunc",
            tables[i].text, begins[0], begins[tables[i].count - 1]);
        if (!shell(command)) SKIP_TEST("mkfs");
        const ntr_status status = read_disk("disk", &reason);
        if (status == NTR_E_UNSUPPORTED) SKIP_TEST("build-libext2fs");
        assert_int_equal(status, NTR_OK);
        assert_string_equal(names, "/one /two ");
    }
    assert_true(shell("truncate -s 12M other && printf 'label: gpt\\nstart=2048, size=1024\\n' | sfdisk -q other"));
    assert_int_equal(read_disk("other", &reason), NTR_E_FORMAT);
    assert_non_null(strstr(reason.text, "none of its 1 partitions"));
    char path[64];
    snprintf(path, sizeof path, "%s/disk", work);
    assert_int_equal(ntr_guest_files_check(path, &reason), NTR_OK);
}

/* ---- tables made here, by the layouts of the UEFI specification (5.2, 5.3) */

static void put(size_t at, uint64_t value, size_t size) {
    for (size_t i = 0; i < size; i++) disk[at + i] = i < sizeof value ? (uint8_t)(value >> 8 * i) : 0;
}

static void put_gpt(size_t sector, uint64_t table, uint32_t count, uint32_t size) {
    memset(disk, 0, sizeof disk);
    memcpy(disk + sector, "EFI PART", 8);
    put(sector + 72, table, 8);
    put(sector + 80, count, 4);
    put(sector + 84, size, 4);
}

static void large_sectors_and_entries(void **state) {
    uint64_t begins[NTR_GUEST_PARTITIONS_MOST];

    (void)state;
    put_gpt(4096, 2, 4, 256);
    put(2 * 4096 + 256, 1, 16); /* the second entry: a type, and the first sector */
    put(2 * 4096 + 256 + 32, 300, 8);
    assert_int_equal(ntr_guest_partitions((ntr_bytes){disk, DISK}, begins), 1);
    assert_int_equal(begins[0], 300 * 4096);
}

static size_t count_of(size_t size) {
    uint64_t begins[NTR_GUEST_PARTITIONS_MOST];
    uint8_t *exact = malloc(size); /* so that reading behind it is seen */

    assert_non_null(exact);
    memcpy(exact, disk, size);
    const size_t count = ntr_guest_partitions((ntr_bytes){exact, size}, begins);
    for (size_t i = 0; i < count; i++) assert_true(begins[i] && begins[i] < size);
    free(exact);
    return count;
}

static void damaged_tables_have_an_end(void **state) {
    (void)state;
    put_gpt(512, UINT64_MAX, 128, 128); /* a table that is not in the image */
    assert_int_equal(count_of(65536), 0);
    put_gpt(512, 2, UINT32_MAX, 128);
    memset(disk + 1024, 0xff, 60000); /* partitions behind the end */
    assert_int_equal(count_of(65536), 0);
    put_gpt(512, 2, 128, 0);
    assert_int_equal(count_of(65536), 0);
    put_gpt(512, 2, 128, 0xffffff00);
    assert_int_equal(count_of(65536), 0);
    memset(disk, 0, sizeof disk); /* a list of logical partitions that leads to itself */
    put(446 + 4, 5, 1);
    put(446 + 8, 4, 4);
    put(510, 0xaa55, 2);
    for (size_t at = 4 * 512; at <= 5 * 512; at += 512) {
        put(at + 446 + 4, 0x83, 1);
        put(at + 446 + 8, 2, 4);
        put(at + 462 + 4, 5, 1);
        put(at + 462 + 8, 1, 4);
        put(at + 510, 0xaa55, 2);
    }
    assert_int_equal(count_of(65536), NTR_GUEST_PARTITIONS_MOST);
    for (size_t size = 0; size < 4096; size += 100) count_of(size);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(large_sectors_and_entries),
        TEST(damaged_tables_have_an_end),
        cmocka_unit_test_setup_teardown(tables_are_read, make_work, remove_work),
        cmocka_unit_test_setup_teardown(files_of_all_partitions_are_found, make_work, remove_work),
    };
    return cmocka_run_group_tests_name("guest_partitions", tests, NULL, NULL);
}

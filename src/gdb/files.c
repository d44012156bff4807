/* vFile: a debugger on another machine reads the program and its libraries here. No other file is opened, and none is
 * written. */
#include "gdb/server.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Error numbers of the protocol, which differ from those of a host. */
enum { FILE_ENOENT = 2, FILE_EBADF = 9, FILE_EACCES = 13, FILE_EINVAL = 22, FILE_EMFILE = 24, FILE_EUNKNOWN = 9999 };

static void fail(ntr_gdb *gdb, int number) {
    ntr_gdb_text_print(&gdb->answer, "F-1,%x", (unsigned)number);
}

/* A path as hexadecimal digits. Returns false when it is none, or does not fit. */
static bool take_path(const char **at, char *path, size_t size) {
    size_t length = 0;
    for (int high, low; (high = ntr_gdb_digit((*at)[0])) >= 0 && (low = ntr_gdb_digit((*at)[1])) >= 0; *at += 2) {
        if (length + 1 >= size) return false;
        path[length++] = (char)(high << 4 | low);
    }
    path[length] = 0;
    return length && strlen(path) == length;
}

static bool is_known(const ntr_gdb *gdb, const char *path) {
    for (size_t i = 0; i < gdb->images.count; i++)
        if (strcmp(gdb->images.items[i].path, path) == 0) return true;
    return false;
}

/* open:PATH,FLAGS,MODE */
static void open_file(ntr_gdb *gdb, const char *at) {
    char path[4096];
    uint64_t flags, mode;
    struct stat info;
    size_t slot = 0;
    if (!take_path(&at, path, sizeof path) || !ntr_gdb_character(&at, ',') || !ntr_gdb_number(&at, &flags) ||
        !ntr_gdb_character(&at, ',') || !ntr_gdb_number(&at, &mode) || *at) {
        fail(gdb, FILE_EINVAL);
        return;
    }
    if (!is_known(gdb, path) || flags != 0) { /* 0: O_RDONLY */
        fail(gdb, is_known(gdb, path) ? FILE_EACCES : FILE_ENOENT);
        return;
    }
    while (slot < NTR_GDB_FILES && gdb->files[slot]) slot++;
    if (slot == NTR_GDB_FILES) {
        fail(gdb, FILE_EMFILE);
        return;
    }
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0 || fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) {
        if (file >= 0) close(file);
        fail(gdb, file < 0 && errno == ENOENT ? FILE_ENOENT : FILE_EACCES);
        return;
    }
    gdb->files[slot] = file + 1;
    ntr_gdb_text_print(&gdb->answer, "F%zx", slot);
}

/* The descriptor of a file, or -1 with an answer that says why. */
static int take_file(ntr_gdb *gdb, const char **at, size_t *slot) {
    uint64_t number;
    const bool good = ntr_gdb_number(at, &number) && number < NTR_GDB_FILES && gdb->files[number];
    if (good) *slot = (size_t)number;
    if (!good) fail(gdb, FILE_EBADF);
    return good ? gdb->files[number] - 1 : -1;
}

static void close_file(ntr_gdb *gdb, const char *at) {
    size_t slot;
    const int file = take_file(gdb, &at, &slot);
    if (file < 0) return;
    close(file);
    gdb->files[slot] = 0;
    ntr_gdb_text_print(&gdb->answer, "F0");
}

/* pread:FILE,COUNT,OFFSET */
static void read_file(ntr_gdb *gdb, const char *at) {
    enum { READ_MAX = NTR_GDB_PACKET_SIZE / 2 - 16 }; /* each byte may need two */
    uint8_t bytes[READ_MAX];
    uint64_t count, offset;
    size_t slot;
    const int file = take_file(gdb, &at, &slot);
    if (file < 0) return;
    if (!ntr_gdb_character(&at, ',') || !ntr_gdb_number(&at, &count) || !ntr_gdb_character(&at, ',') ||
        !ntr_gdb_number(&at, &offset) || *at || offset > INT64_MAX) {
        fail(gdb, FILE_EINVAL);
        return;
    }
    const ssize_t got = pread(file, bytes, count < READ_MAX ? (size_t)count : READ_MAX, (off_t)offset);
    if (got < 0) {
        fail(gdb, FILE_EUNKNOWN);
        return;
    }
    ntr_gdb_text_print(&gdb->answer, "F%zx;", (size_t)got);
    ntr_gdb_text_add(&gdb->answer, bytes, (size_t)got);
}

/* fstat:FILE: a struct stat as the protocol lays it out, with big-endian numbers. */
static void stat_file(ntr_gdb *gdb, const char *at) {
    enum { MODE_REGULAR = 0100444, FILE_BLOCK = 4096 };
    struct stat info;
    size_t slot;
    const int file = take_file(gdb, &at, &slot);
    if (file < 0) return;
    if (fstat(file, &info) != 0) {
        fail(gdb, FILE_EUNKNOWN);
        return;
    }
    const struct {
        unsigned size;
        uint64_t value;
    } members[] = {{4, 0},
                   {4, (uint64_t)info.st_ino},
                   {4, MODE_REGULAR},
                   {4, 1},
                   {4, 0}, /* user, group, device */
                   {4, 0},
                   {4, 0},
                   {8, (uint64_t)info.st_size},
                   {8, FILE_BLOCK},
                   {8, ((uint64_t)info.st_size + 511) / 512},
                   {4, (uint64_t)info.st_atime},
                   {4, (uint64_t)info.st_mtime},
                   {4, (uint64_t)info.st_ctime}};
    ntr_gdb_text_print(&gdb->answer, "F40;");
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        for (unsigned byte = members[i].size; byte-- > 0;) {
            const uint8_t value = (uint8_t)(members[i].value >> 8 * byte);
            ntr_gdb_text_add(&gdb->answer, &value, 1);
        }
}

/* setfs:PID: all processes have one file system here. */
static void choose_system(ntr_gdb *gdb, const char *at) {
    (void)at;
    ntr_gdb_text_print(&gdb->answer, "F0");
}

static void refuse(ntr_gdb *gdb, const char *at) {
    (void)at;
    fail(gdb, FILE_EACCES);
}

static const struct file_operation {
    const char *name;
    void (*run)(ntr_gdb *gdb, const char *at);
} operations[] = {
    {"vFile:setfs:", choose_system}, {"vFile:open:", open_file},  {"vFile:close:", close_file},
    {"vFile:pread:", read_file},     {"vFile:fstat:", stat_file}, {"vFile:readlink:", refuse},
    {"vFile:pwrite:", refuse},       {"vFile:unlink:", refuse},
};

void ntr_gdb_file_packets(ntr_gdb *gdb, const char *packet) {
    for (size_t i = 0; gdb->config.serve_files && i < sizeof operations / sizeof *operations; i++)
        if (strncmp(packet, operations[i].name, strlen(operations[i].name)) == 0)
            operations[i].run(gdb, packet + strlen(operations[i].name));
}

void ntr_gdb_files_close(ntr_gdb *gdb) {
    for (size_t i = 0; i < NTR_GDB_FILES; i++) {
        if (gdb->files[i]) close(gdb->files[i] - 1);
        gdb->files[i] = 0;
    }
}

/* Injects faults, for LD_PRELOAD. FAULTS="KIND:N" in the environment:
 *
 * alloc:N    the N-th allocation of the program itself fails (after main was entered; once)
 *
 * write:N    the N-th write finds the disk full, and so does every later one
 *
 * read:N     the N-th read fails with EIO (once)
 *
 * kill:N     the process is killed (SIGKILL) at the N-th large write, rename, link or unlink
 *
 * lib:N      the N-th call by ntrace of a function of libdw, libelf, jansson, zstd, libarchive, ext2fs, liblzma,
 *            SQLite, protobuf-c, libclang or LLVM fails (once); with FAULTS_TRACE, its name is written;
 *            with FAULTS_ONLY=ext2fs, only functions whose names begin so count
 *
 * short      reads give at most 7 bytes, writes take at most 5
 *
 * eintr      every other read and write is interrupted by a signal
 *
 * count      nothing fails
 *
 * With FAULTS_COUNT=FILE the numbers of allocations, writes, reads, calls at which it can be killed, and calls of
 * libraries are written to FILE. Writes to standard error do not fail, so that messages arrive. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
int __libc_start_main(int (*run)(int, char **, char **), int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end);

enum { LARGE = 4096 }; /* bytes */
enum { DWARF_ERROR = 16 }; /* invalid DWARF */
enum kind { ALLOC, WRITE, READ, KILL, CALL, KINDS };

static bool armed, is_short, interrupts;
static unsigned long at[KINDS], count[KINDS];
static unsigned turn;
static int (*real_main)(int, char **, char **);

static bool due(enum kind kind, bool for_ever) {
    if (!armed) return false;
    unsigned long number = ++count[kind];
    return at[kind] && (for_ever ? number >= at[kind] : number == at[kind]);
}

/* ---- memory */

/* libdw 0.188 does not look whether it got the table of abbreviations of a unit, and reads it. */
static bool is_libdw(void *caller) {
    Dl_info found;
    return armed && dladdr(caller, &found) && strstr(found.dli_fname, "/libdw.so");
}

void *malloc(size_t size) {
    if (!is_libdw(__builtin_return_address(0)) && due(ALLOC, false)) return errno = ENOMEM, NULL;
    return __libc_malloc(size);
}

void *calloc(size_t n, size_t size) {
    if (!is_libdw(__builtin_return_address(0)) && due(ALLOC, false)) return errno = ENOMEM, NULL;
    return __libc_calloc(n, size);
}

void *realloc(void *block, size_t size) {
    if (size && !is_libdw(__builtin_return_address(0)) && due(ALLOC, false)) return errno = ENOMEM, NULL;
    return __libc_realloc(block, size);
}

/* ---- files */

static void *real_dlsym(void *handle, const char *name) {
    static void *(*real)(void *, const char *);
    if (!real) real = (void *(*)(void *, const char *))(size_t)dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
    return real(handle, name);
}

static void *next(const char *name) {
    bool was = armed;
    armed = false;
    void *found = real_dlsym(RTLD_NEXT, name);
    armed = was;
    return found;
}

#define NEXT(name) ((__typeof__(&name))(size_t)next(#name))

static void kill_here(void) {
    if (due(KILL, false)) kill(getpid(), SIGKILL);
}

/* Whether the call fails; sets errno. May make *size smaller. */
static bool hurt(enum kind kind, int fd, size_t *size) {
    if (!armed || fd == STDERR_FILENO) return false;
    if (interrupts && turn++ % 2 == 0) return errno = EINTR, true;
    if (is_short && *size > (kind == READ ? 7u : 5u)) *size = kind == READ ? 7 : 5;
    if (!due(kind, kind == WRITE)) return false;
    errno = kind == READ ? EIO : ENOSPC;
    return true;
}

ssize_t write(int fd, const void *data, size_t size) {
    if (size >= LARGE) kill_here();
    return hurt(WRITE, fd, &size) ? -1 : NEXT(write)(fd, data, size);
}

ssize_t read(int fd, void *data, size_t size) {
    return hurt(READ, fd, &size) ? -1 : NEXT(read)(fd, data, size);
}

/* Databases write with these functions; they would treat a short write as ENOSPC. */
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset) {
    size_t all = size;
    if (hurt(WRITE, fd, &all)) return -1;
    return NEXT(pwrite64)(fd, data, size, offset);
}

int rename(const char *from, const char *to) {
    kill_here();
    return NEXT(rename)(from, to);
}

int link(const char *from, const char *to) {
    kill_here();
    return NEXT(link)(from, to);
}

int unlink(const char *path) {
    kill_here();
    return NEXT(unlink)(path);
}

/* ---- libraries: functions whose failure can be told apart from "there is no more", and what they return when they
 * fail. All arguments are integers and pointers; a function with fewer than 8 ignores the rest. Calls of the libraries
 * among themselves do not fail. */

typedef long any_function(long, long, long, long, long, long, long, long);

static bool library_fails(const char *name, void *caller) {
    Dl_info info;
    const char *only = getenv("FAULTS_ONLY");
    if (only && strncmp(name, only, strlen(only)) != 0) return false;
    if (!armed || !dladdr(caller, &info) || !info.dli_fname || !strstr(info.dli_fname, "ntrace")) return false;
    if (!due(CALL, false)) return false;
    return true;
}

/* What libdw tells next about a call that failed. */
static __thread bool dwarf_failed;

static any_function *real_of(any_function *loaded, const char *name) {
    return loaded ? loaded : (any_function *)(size_t)next(name);
}

/* `before` is done when the call fails. `name` returns an integer or a pointer. */
#define FAILS(name, failure, before)                                                                                   \
    static any_function *loaded_##name;                                                                                \
    long name(long a, long b, long c, long d, long e, long f, long g, long h);                                         \
    long name(long a, long b, long c, long d, long e, long f, long g, long h) {                                        \
        static any_function *real;                                                                                     \
        if (library_fails(#name, __builtin_return_address(0))) {                                                       \
            if (getenv("FAULTS_TRACE")) fputs("# " #name "\n", stderr);                                                \
            before;                                                                                                    \
            return failure;                                                                                            \
        }                                                                                                              \
        if (!real) real = real_of(loaded_##name, #name);                                                               \
        return real(a, b, c, d, e, f, g, h);                                                                           \
    }
#define LIBRARY(name, failure) FAILS(name, failure, (void)0)
#define DWARF(name, failure)   FAILS(name, failure, dwarf_failed = true)

DWARF(dwarf_get_units, -1)
DWARF(dwarf_child, -1)
DWARF(dwarf_siblingof, -1)
DWARF(dwarf_getsrclines, -1)
DWARF(dwarf_getsrcfiles, -1)
DWARF(dwarf_getsrcdirs, -1)
DWARF(dwarf_ranges, -1)
DWARF(dwarf_attr, 0)
DWARF(dwarf_attr_integrate, 0)
DWARF(dwarf_cu_die, 0)
DWARF(dwarf_diename, 0)
DWARF(dwarf_filesrc, 0)
DWARF(dwarf_formaddr, -1)
DWARF(dwarf_formflag, -1)
DWARF(dwarf_formref_die, 0)
DWARF(dwarf_formstring, 0)
DWARF(dwarf_formudata, -1)
DWARF(dwarf_hasattr, 0)
DWARF(dwarf_hasattr_integrate, 0)
DWARF(dwarf_haschildren, -1)
DWARF(dwarf_srclang, -1)
DWARF(dwarf_tag, 0)
DWARF(dwarf_cfi_addrframe, -1)
DWARF(dwarf_frame_cfa, -1)
DWARF(dwarf_frame_info, -1)
DWARF(dwarf_frame_register, -1)
LIBRARY(dwfl_begin, 0)
LIBRARY(dwfl_report_elf, 0)
LIBRARY(dwfl_report_end, -1)
LIBRARY(dwfl_module_getdwarf, 0)
LIBRARY(dwfl_module_getelf, 0)
LIBRARY(dwfl_module_dwarf_cfi, 0)
LIBRARY(dwfl_module_eh_cfi, 0)
LIBRARY(dwfl_module_getsym_info, 0)
LIBRARY(dwfl_module_getsymtab, -1)
LIBRARY(dwfl_module_info, 0)
LIBRARY(elf_begin, 0)
LIBRARY(elf_memory, 0)
LIBRARY(elf_getdata, 0)
LIBRARY(elf_rawdata, 0)
LIBRARY(elf_rawfile, 0)
LIBRARY(elf_getdata_rawchunk, 0)
LIBRARY(elf_getscn, 0)
LIBRARY(elf_kind, 0)
LIBRARY(elf_strptr, 0)
LIBRARY(elf_getphdrnum, -1)
LIBRARY(elf_getshdrnum, -1)
LIBRARY(elf_getshdrstrndx, -1)
LIBRARY(elf_newdata, 0)
LIBRARY(elf_newscn, 0)
LIBRARY(elf_update, -1)
LIBRARY(gelf_getehdr, 0)
LIBRARY(gelf_getshdr, 0)
LIBRARY(gelf_getphdr, 0)
LIBRARY(gelf_getchdr, 0)
LIBRARY(gelf_getsym, 0)
LIBRARY(gelf_getsymshndx, 0)
LIBRARY(gelf_getrela, 0)
LIBRARY(gelf_newehdr, 0)
LIBRARY(gelf_newphdr, 0)
LIBRARY(gelf_update_ehdr, 0)
LIBRARY(gelf_update_phdr, 0)
LIBRARY(gelf_update_shdr, 0)
LIBRARY(gelf_update_sym, 0)
LIBRARY(json_loads, 0)
LIBRARY(json_loadb, 0)
LIBRARY(json_loadfd, 0)
LIBRARY(json_load_callback, 0)
LIBRARY(json_dumpf, -1)
LIBRARY(json_array, 0)
LIBRARY(json_object, 0)
LIBRARY(json_integer, 0)
LIBRARY(json_string, 0)
LIBRARY(json_stringn, 0)
LIBRARY(json_array_append_new, -1)
LIBRARY(json_object_set_new, -1)
LIBRARY(ZSTD_decompressStream, -1)
LIBRARY(ZSTD_compressStream2, -1)
LIBRARY(ZSTD_createDCtx, 0)
LIBRARY(ZSTD_createCCtx, 0)
LIBRARY(ZSTD_CCtx_setParameter, -1)
LIBRARY(ZSTD_DCtx_setParameter, -1)
LIBRARY(lzma_auto_decoder, 5)
LIBRARY(lzma_code, 9)
LIBRARY(protobuf_c_message_unpack, 0)
LIBRARY(sqlite3_open, 14)
LIBRARY(sqlite3_exec, 10)
LIBRARY(sqlite3_prepare_v2, 10)
LIBRARY(sqlite3_bind_int64, 7)
LIBRARY(sqlite3_bind_text, 7)
LIBRARY(sqlite3_bind_null, 7)
LIBRARY(sqlite3_step, 10)
LIBRARY(ext2fs_open2, 2133571398)
LIBRARY(ext2fs_allocate_inode_bitmap, 2133571398)
LIBRARY(ext2fs_dir_iterate2, 2133571398)
LIBRARY(ext2fs_read_inode, 2133571398)
LIBRARY(ext2fs_file_open, 2133571398)
LIBRARY(ext2fs_file_get_lsize, 2133571398)
LIBRARY(ext2fs_file_lseek, 2133571398)
LIBRARY(ext2fs_file_read, 2133571398)

int dwarf_errno(void) {
    const bool failed = dwarf_failed;
    dwarf_failed = false;
    return failed ? DWARF_ERROR : NEXT(dwarf_errno)();
}

/* Libraries that are loaded later: dlsym finds the function here. */
#define LOADED(X)                                                                                                      \
    X(archive_read_new, 0)                                                                                             \
    X(archive_read_support_filter_gzip, -30)                                                                           \
    X(archive_read_support_filter_bzip2, -30)                                                                          \
    X(archive_read_support_filter_lzma, -30)                                                                           \
    X(archive_read_support_filter_xz, -30)                                                                             \
    X(archive_read_support_filter_lz4, -30)                                                                            \
    X(archive_read_support_filter_zstd, -30)                                                                           \
    X(archive_read_support_format_raw, -30)                                                                            \
    X(archive_read_open_memory, -30)                                                                                   \
    X(archive_read_next_header, -30)                                                                                   \
    X(archive_read_data, -30)                                                                                          \
    X(clang_createIndex, 0)                                                                                            \
    X(clang_parseTranslationUnit2, 1)                                                                                  \
    X(clang_getFileContents, 0)                                                                                        \
    X(LLVMCreateDisasmCPUFeatures, 0)

LOADED(LIBRARY)

void *dlsym(void *handle, const char *name) {
    void *found = real_dlsym(handle, name);
#define FIND(function, failure)                                                                                        \
    if (armed && found && strcmp(name, #function) == 0) {                                                              \
        loaded_##function = (any_function *)(size_t)found;                                                             \
        return (void *)(size_t)function;                                                                               \
    }
    LOADED(FIND)
#undef FIND
    return found;
}

/* ---- the program */

static void leave_counts(void) {
    const char *path = getenv("FAULTS_COUNT");
    armed = false;
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file) return;
    fprintf(file, "%lu %lu %lu %lu %lu\n", count[ALLOC], count[WRITE], count[READ], count[KILL], count[CALL]);
    fclose(file);
}

static int begin(int argc, char **argv, char **environment) {
    static const char *const names[KINDS] = {"alloc:", "write:", "read:", "kill:", "lib:"};
    const char *faults = getenv("FAULTS");
    for (int kind = 0; faults && kind < KINDS; kind++)
        if (strncmp(faults, names[kind], strlen(names[kind])) == 0)
            at[kind] = strtoul(faults + strlen(names[kind]), NULL, 10);
    is_short = faults && strcmp(faults, "short") == 0;
    interrupts = faults && strcmp(faults, "eintr") == 0;
    unsetenv("LD_PRELOAD"); /* programs that are started are not hurt */
    atexit(leave_counts);
    armed = faults != NULL;
    return real_main(argc, argv, environment);
}

int __libc_start_main(int (*run)(int, char **, char **), int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end) {
    real_main = run;
    return NEXT(__libc_start_main)(begin, argc, argv, init, fini, rtld_fini, stack_end);
}

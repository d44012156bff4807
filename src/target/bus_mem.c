/* Registers that this process has mapped: /dev/mem and UIO devices on the target, or a plain file for tests. */
#include "target/buses.h"

#include "base/allocator.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MEM_PAGE = 4096, MEM_PAGES = 64, MAPS = 5, UIO_LINE = 64 };

typedef struct mapped_page {
    uint64_t address;
    uint8_t *at;
} mapped_page;

/* Part of a device or file: physical addresses [base, base + bytes) begin at `offset` of the file. */
typedef struct mapping {
    uint64_t base, bytes, offset;
} mapping;

typedef struct mem_bus {
    const ntr_allocator *allocator;
    int fd;
    mapping maps[MAPS];
    unsigned map_count;
    mapped_page pages[MEM_PAGES]; /* the most recently used ones; replaced in turn */
    unsigned page_count, next;
    char error[200];
} mem_bus;

static ntr_status __attribute__((format(printf, 2, 3))) fail(mem_bus *bus, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(bus->error, sizeof bus->error, format, arguments);
    va_end(arguments);
    return NTR_E_IO;
}

/* ---- pages */

static const char *why_not(void) {
    if (errno == EPERM)
        return "not permitted: root with CAP_SYS_RAWIO is required, and no lockdown; for memory that a driver claims "
               "(CONFIG_IO_STRICT_DEVMEM), boot with iomem=relaxed";
    return strerror(errno);
}

static bool find_offset(const mem_bus *bus, uint64_t address, uint64_t *offset) {
    for (unsigned i = 0; i < bus->map_count; i++) {
        const mapping *map = &bus->maps[i];
        if (address < map->base || address - map->base >= map->bytes) continue;
        *offset = map->offset + (address - map->base);
        return true;
    }
    return false;
}

static ntr_status map_page(mem_bus *bus, uint64_t address, uint8_t **at) {
    uint64_t offset;
    const uint64_t page = address & ~(uint64_t)(MEM_PAGE - 1);
    for (unsigned i = 0; i < bus->page_count; i++)
        if (bus->pages[i].address == page) {
            *at = bus->pages[i].at;
            return NTR_OK;
        }
    if (!find_offset(bus, page, &offset)) return fail(bus, "no memory of the file is at 0x%" PRIx64, address);
    void *mapped = mmap(NULL, MEM_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, bus->fd, (off_t)offset);
    if (mapped == MAP_FAILED) return fail(bus, "mmap of 0x%" PRIx64 ": %s", page, why_not());
    mapped_page *slot = &bus->pages[bus->page_count < MEM_PAGES ? bus->page_count++ : bus->next++ % MEM_PAGES];
    if (slot->at) munmap(slot->at, MEM_PAGE);
    *slot = (mapped_page){page, mapped};
    *at = mapped;
    return NTR_OK;
}

/* ---- accesses. A load from an address where nothing answers raises SIGBUS (or SIGSEGV). */

static _Thread_local sigjmp_buf after_fault;

static void on_fault(int signal) {
    (void)signal;
    siglongjmp(after_fault, 1);
}

static void barrier(void) {
#ifdef __riscv
    __asm__ volatile("fence iorw, iorw" ::: "memory");
#else
    __sync_synchronize();
#endif
}

/* One access of 32 bits. Returns false when it raised a signal. */
static bool access_word(volatile uint32_t *at, uint32_t *value, bool write) {
    struct sigaction action = {.sa_handler = on_fault}, bus_before, segv_before;
    volatile bool good = false;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &bus_before);
    sigaction(SIGSEGV, &action, &segv_before);
    if (sigsetjmp(after_fault, 1) == 0) {
        if (write)
            *at = *value;
        else
            *value = *at;
        barrier();
        good = true;
    }
    sigaction(SIGBUS, &bus_before, NULL);
    sigaction(SIGSEGV, &segv_before, NULL);
    return good;
}

static ntr_status access32(mem_bus *bus, uint64_t address, uint32_t *value, bool write) {
    uint8_t *page = NULL;
    if (address % sizeof(uint32_t)) return fail(bus, "0x%" PRIx64 " is not aligned", address);
    const ntr_status status = map_page(bus, address, &page);
    if (status != NTR_OK || !page) return status;
    if (access_word((volatile uint32_t *)(void *)(page + address % MEM_PAGE), value, write)) return NTR_OK;
    return fail(bus, "bus error at 0x%" PRIx64 ": nothing answers there, or it has no clock", address);
}

static ntr_status read32(void *user, uint64_t address, uint32_t *value) {
    return access32(user, address, value, false);
}

static ntr_status write32(void *user, uint64_t address, uint32_t value) {
    return access32(user, address, &value, true);
}

static ntr_status read_memory(void *user, uint64_t address, uint8_t *out, size_t bytes) {
    uint32_t word = 0;
    for (size_t i = 0; i < bytes; i++) {
        const unsigned byte = (unsigned)((address + i) % sizeof word);
        const ntr_status status = i && byte ? NTR_OK : read32(user, address + i - byte, &word);
        if (status != NTR_OK) return status;
        out[i] = (uint8_t)(word >> 8 * byte);
    }
    return NTR_OK;
}

static const char *error(void *user) {
    return ((mem_bus *)user)->error;
}

static void close_bus(void *user) {
    mem_bus *bus = user;
    for (unsigned i = 0; i < bus->page_count; i++) munmap(bus->pages[i].at, MEM_PAGE);
    if (bus->fd >= 0) close(bus->fd);
    ntr_dealloc(bus->allocator, bus);
}

/* ---- opening */

/* Reads one number of /sys/class/uio/uioN/maps/mapM. */
static bool uio_number(const char *device, unsigned map, const char *what, uint64_t *value) {
    char path[160], text[UIO_LINE] = "";
    const char *name = strrchr(device, '/');
    snprintf(path, sizeof path, "/sys/class/uio/%.32s/maps/map%u/%s", name ? name + 1 : device, map, what);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    const ssize_t size = read(fd, text, sizeof text - 1);
    close(fd);
    return size > 0 && ntr_read_number(text, text + size, value);
}

/* Mapping M of a UIO device begins at offset M times the page size. */
static void find_uio_maps(mem_bus *bus, const char *device) {
    uint64_t address, size, inside = 0;
    for (unsigned map = 0;
         map < MAPS && uio_number(device, map, "addr", &address) && uio_number(device, map, "size", &size); map++) {
        if (!uio_number(device, map, "offset", &inside)) inside = 0;
        bus->maps[bus->map_count++] = (mapping){address + inside, size, map * (uint64_t)sysconf(_SC_PAGESIZE) + inside};
    }
}

static ntr_status open_file(mem_bus *bus, const char *path, size_t length, uint64_t base, bool has_base) {
    char name[1024];
    struct stat info;
    if (length >= sizeof name) return fail(bus, "the name is too long");
    memcpy(name, path, length);
    name[length] = 0;
    bus->fd = open(name, O_RDWR | O_SYNC | O_CLOEXEC);
    if (bus->fd < 0) return fail(bus, "%s: %s", name, why_not());
    if (fstat(bus->fd, &info) != 0) return fail(bus, "%s: %s", name, strerror(errno));
    if (has_base)
        bus->maps[bus->map_count++] =
            (mapping){base, S_ISREG(info.st_mode) ? (uint64_t)info.st_size : UINT64_MAX - base, 0};
    else if (strstr(name, "uio"))
        find_uio_maps(bus, name);
    else
        bus->maps[bus->map_count++] = (mapping){0, UINT64_MAX, 0};
    if (!bus->map_count) return fail(bus, "%s: no mapping in /sys/class/uio", name);
    return NTR_OK;
}

ntr_status bus_mem_open(ntr_bus *out, const ntr_bus_options *options) {
    const char *at = strrchr(options->place, '@');
    uint64_t base = 0;
    if (at && ntr_read_number(at + 1, at + strlen(at), &base) != at + strlen(at)) return NTR_E_SYNTAX;
    if (base % MEM_PAGE) return NTR_E_SYNTAX;
    mem_bus *bus = ntr_alloc(options->allocator, 1, sizeof *bus);
    if (!bus) return NTR_E_MEMORY;
    bus->fd = -1;
    bus->allocator = options->allocator;
    const ntr_status status =
        open_file(bus, options->place, at ? (size_t)(at - options->place) : strlen(options->place), base, at);
    if (status != NTR_OK) {
        if (options->error) snprintf(options->error, options->error_size, "%s", bus->error);
        close_bus(bus);
        return status;
    }
    *out = (ntr_bus){.size = sizeof *out,
                     .user = bus,
                     .read32 = read32,
                     .write32 = write32,
                     .read_memory = read_memory,
                     .error = error,
                     .close = close_bus};
    return NTR_OK;
}

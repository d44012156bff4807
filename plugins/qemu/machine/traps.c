/* Traps, as QEMU reports them.
 *
 * QEMU 10: "-d int,cpu_reset" writes a line for each trap when it is taken, before the first block of the handler. The
 * log is a file in memory that this plugin maps. QEMU has truncated it before plugins are loaded; it is made larger
 * here, so what was not written yet reads as 0. Each hart has a reading position of its own, and passes over the lines
 * of others. Its own lines are complete: its thread has written them.
 *
 *   riscv_cpu_do_interrupt: hart:0, async:1, cause:0000000000000007, epc:0x0000000080000210, tval:0x..., desc=m_timer
 *   CPU Reset (CPU 0)
 *
 * QEMU 11.1 calls the plugin at each trap; the log then has only resets. */
#include "machine.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define LOG_SIZE_MOST (1ull << 36) /* bytes; sparse */
#define LOG_PUNCH     (1ull << 22) /* what all harts have read is given back in steps of this size */

enum { LOG_LINE = 512, HARTS = 4096 };

static const volatile char *start;
static uint64_t log_size = LOG_SIZE_MOST; /* less where the size of files is limited */
static int file = -1;
static _Atomic uint64_t given_back;                 /* bytes */
static _Atomic(const volatile char *)
    places[HARTS]; /* reading position of each hart; NULL: it sleeps, or is not there */

bool machine_map_log(const char *path) {
    struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY}, before;

    file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) return false;
    getrlimit(RLIMIT_FSIZE, &before);
    none.rlim_cur = none.rlim_max = before.rlim_max;
    setrlimit(RLIMIT_FSIZE, &none);
    if (none.rlim_cur < log_size) log_size = none.rlim_cur & ~(uint64_t)(LOG_PUNCH - 1);
    bool good = log_size && ftruncate(file, (off_t)log_size) == 0;
    setrlimit(RLIMIT_FSIZE, &before);
    void *memory = good ? mmap(NULL, log_size, PROT_READ, MAP_SHARED | MAP_NORESERVE, file, 0) : MAP_FAILED;
    if (memory == MAP_FAILED) return false;
    start = memory;
    return true;
}

const volatile char *machine_log_start(void) {
    return start;
}

/* ---- memory -------------------------------------------------------------------------------------------------------
 */

/* Held while the places of the harts become what is given back: a hart that resumes finds the log from there on. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Give back what every hart has read, but for the newest part: another plugin may read the log, too. */
static void punch(void) {
    uint64_t least = log_size;

    if (pthread_mutex_trylock(&lock)) return;
    for (unsigned i = 0; i < HARTS; i++) {
        const volatile char *place = atomic_load(&places[i]);
        if (place && (uint64_t)(place - start) < least) least = (uint64_t)(place - start);
    }
    uint64_t from = atomic_load(&given_back), to = least < LOG_PUNCH ? 0 : (least - LOG_PUNCH) & ~(LOG_PUNCH - 1);
    if (least < log_size && to > from) {
        atomic_store(&given_back, to);
        fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)(to - from));
    }
    pthread_mutex_unlock(&lock);
}

void machine_log_idle(struct machine_hart *hart) {
    unsigned vcpu = (unsigned)(hart->lane - channel->lanes);
    if (vcpu < HARTS) atomic_store(&places[vcpu], NULL);
}

void machine_log_resume(struct machine_hart *hart) {
    unsigned vcpu = (unsigned)(hart->lane - channel->lanes);

    pthread_mutex_lock(&lock);
    const volatile char *least = start + atomic_load(&given_back);
    if (hart->line < least) hart->line = least;
    if (vcpu < HARTS) atomic_store(&places[vcpu], hart->line);
    pthread_mutex_unlock(&lock);
}

/* ---- lines --------------------------------------------------------------------------------------------------------
 */

/* The number behind `name` in the line. */
static bool number_behind(const char *line, const char *name, int base, uint64_t *value) {
    const char *at = strstr(line, name);
    static const char digits[] = "0123456789abcdef";

    if (!at) return false;
    at += strlen(name);
    if (base == 16 && at[0] == '0' && at[1] == 'x') at += 2;
    *value = 0;
    for (const char *digit; *at && (digit = strchr(digits, *at)) && digit - digits < base; at++)
        *value = *value * (unsigned)base + (unsigned)(digit - digits);
    return true;
}

static bool take_trap_line(struct machine_hart *hart, unsigned vcpu, const char *line, bool first) {
    uint64_t id, interrupt, cause, epc, tval;

    if (!number_behind(line, "hart:", 10, &id) || !number_behind(line, "async:", 10, &interrupt) ||
        !number_behind(line, "cause:", 16, &cause) || !number_behind(line, "epc:", 16, &epc) ||
        !number_behind(line, "tval:", 16, &tval) || id != vcpu)
        return false;
    machine_take_trap(hart, interrupt ? CHANNEL_TRAP_INTERRUPT : 0, cause, epc, tval, first);
    return true;
}

static bool take_line(struct machine_hart *hart, unsigned vcpu, const char *line, bool first) {
    static const char trap[] = "riscv_cpu_do_interrupt: ", reset[] = "CPU Reset (CPU ";
    uint64_t id;

    if (strncmp(line, trap, sizeof trap - 1) == 0) /* with version 7, take_discon has told it */
        return NTRACE_QEMU_API < 7 && take_trap_line(hart, vcpu, line, first);
    if (strncmp(line, reset, sizeof reset - 1) != 0 || !number_behind(line, reset, 10, &id) || id != vcpu) return false;
    machine_take_reset(hart);
    return true;
}

/* Copies the line at hart->line, as far as it fits. Returns its length with the line feed; 0: it is not complete. */
static uint64_t copy_line(const struct machine_hart *hart, char line[LOG_LINE]) {
    uint64_t n = 0;
    for (char byte; (byte = hart->line[n]) != '\n'; n++) {
        if (!byte) return 0;
        if (n < LOG_LINE - 1) line[n] = byte;
    }
    line[n < LOG_LINE - 1 ? n : LOG_LINE - 1] = 0;
    return n + 1;
}

unsigned machine_read_log(struct machine_hart *hart, unsigned vcpu) {
    unsigned count = hart->traps;
    char line[LOG_LINE];

    hart->traps = 0;
    for (uint64_t size; (size = copy_line(hart, line)); hart->line += size)
        if (take_line(hart, vcpu, line, count == 0)) count++;
    if (vcpu < HARTS) {
        atomic_store(&places[vcpu], hart->line);
        if ((uint64_t)(hart->line - start) - atomic_load(&given_back) > 3 * LOG_PUNCH) punch();
    }
    return count;
}

/* ---- version 7 ----------------------------------------------------------------------------------------------------
 */

#if NTRACE_QEMU_API >= 7
/* QEMU gives 64 bits of the values of a 32-bit hart; bit 31 is repeated in the upper half. */
static uint64_t of_width(uint64_t value) {
    return channel->head.xlen == 32 ? (uint32_t)value : value;
}

/* The registers are those that the trap has set, of the mode that it has entered. */
static void take_discon(unsigned vcpu, int type, uint64_t from, uint64_t to, void *nothing) {
    struct machine_hart *hart = machine_hart(vcpu);
    bool machine = (machine_read(hart, REGISTER_PRIV) & 3) == 3;
    uint64_t cause = machine_read(hart, machine ? REGISTER_MCAUSE : REGISTER_SCAUSE);
    uint64_t tval = machine_read(hart, machine ? REGISTER_MTVAL : REGISTER_STVAL);

    (void)to, (void)nothing;
    if (!hart->lane || !lane_is_traced(hart->lane)) return;
    cause &= channel->head.xlen == 32 ? INT32_MAX : INT64_MAX;
    machine_take_trap(hart, type == QEMU_DISCON_INTERRUPT ? CHANNEL_TRAP_INTERRUPT : 0, cause, of_width(from),
                      of_width(tval), hart->traps == 0);
    hart->traps++;
    hart->slow |= BLOCK_TRAPPED;
}

void machine_watch_traps(qemu_id id) {
    qemu_plugin_register_vcpu_discon_cb(id, QEMU_DISCON_INTERRUPT | QEMU_DISCON_EXCEPTION, take_discon, NULL);
}
#else
void machine_watch_traps(qemu_id id) {
    (void)id;
}
#endif

/* The part of QEMU's TCG plugin interface that the capture plugins use. Distributions do not ship the header; these few
 * prototypes are declared here. NTRACE_QEMU_API is the version of the interface:
 *
 *   version  QEMU           offers
 *   1        6.0 to 8.2     inline additions to any address of this process
 *   2, 3     9.0, 9.1       scoreboards and registers; inline operations only on scoreboards
 *   4        9.2 to 11.0    bytes of instructions are copied; memory of the guest and values of accesses can be read
 *   7        11.1 and later callbacks get a pointer of the plugin's; traps of machines (discontinuities)
 *
 * The plugins are compiled for 1, 4 and 7; src/capture/qemu.c chooses by the version that QEMU says. */
#ifndef NTRACE_QEMU_API_H
#define NTRACE_QEMU_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef NTRACE_QEMU_API
#error "NTRACE_QEMU_API is not defined"
#endif

typedef uint64_t qemu_id;

typedef struct qemu_info {
    const char *target_name;
    struct {
        int min, cur;
    } version;
    bool system_emulation;
    struct {
        int smp_vcpus, max_vcpus;
    } system;
} qemu_info;

struct qemu_plugin_tb;
struct qemu_plugin_insn;

enum qemu_callback_flags { QEMU_NO_REGS, QEMU_READ_REGS };
enum qemu_mem_rw { QEMU_MEM_RW = 3 };
enum qemu_inline_op { QEMU_INLINE_ADD, QEMU_INLINE_STORE };

/* ---- callbacks: since version 7, they get a pointer of the plugin's instead of its id */

#if NTRACE_QEMU_API >= 7
#define QEMU_ID_CALLBACK(name)   void name(void *nothing)
#define QEMU_VCPU_CALLBACK(name) void name(unsigned vcpu, void *nothing)
#define QEMU_TB_CALLBACK(name)   void name(struct qemu_plugin_tb *tb, void *nothing)
#define QEMU_EXIT_CALLBACK(name) void name(void *nothing)
#define QEMU_SYSCALL_CALLBACK(name)                                                                                    \
    void name(unsigned vcpu, int64_t number, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5,          \
              uint64_t a6, uint64_t a7, uint64_t a8, void *nothing)
#define QEMU_SYSCALL_RETURN_CALLBACK(name) void name(unsigned vcpu, int64_t number, int64_t result, void *nothing)
#define QEMU_IGNORE                        (void)nothing
#define QEMU_OWN                           NULL /* the first argument of such a callback */
#define QEMU_LAST                          , void *
#define QEMU_WITH(callback)                callback, NULL
#else
#define QEMU_ID_CALLBACK(name)   void name(qemu_id id)
#define QEMU_VCPU_CALLBACK(name) void name(qemu_id id, unsigned vcpu)
#define QEMU_TB_CALLBACK(name)   void name(qemu_id id, struct qemu_plugin_tb *tb)
#define QEMU_EXIT_CALLBACK(name) void name(qemu_id id, void *nothing)
#define QEMU_SYSCALL_CALLBACK(name)                                                                                    \
    void name(qemu_id id, unsigned vcpu, int64_t number, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4,           \
              uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
#define QEMU_SYSCALL_RETURN_CALLBACK(name) void name(qemu_id id, unsigned vcpu, int64_t number, int64_t result)
#define QEMU_IGNORE                        (void)id
#define QEMU_OWN                           plugin_id
#define QEMU_LAST
#define QEMU_WITH(callback) callback
#endif

typedef QEMU_ID_CALLBACK((*qemu_plugin_id_cb_t));
typedef QEMU_VCPU_CALLBACK((*qemu_plugin_vcpu_cb_t));
typedef QEMU_TB_CALLBACK((*qemu_plugin_tb_cb_t));
typedef QEMU_EXIT_CALLBACK((*qemu_plugin_exit_cb_t));
typedef QEMU_SYSCALL_CALLBACK((*qemu_plugin_syscall_cb_t));
typedef QEMU_SYSCALL_RETURN_CALLBACK((*qemu_plugin_syscall_return_cb_t));
typedef void (*qemu_block_callback)(unsigned vcpu, void *);

typedef uint32_t qemu_access;
typedef void (*qemu_access_callback)(unsigned vcpu, qemu_access, uint64_t address, void *);

/* Symbols that QEMU looks up in a plugin. */
extern __attribute__((visibility("default"))) int qemu_plugin_version;
__attribute__((visibility("default"))) int qemu_plugin_install(qemu_id, const qemu_info *, int argc, char **argv);

void qemu_plugin_register_vcpu_init_cb(qemu_id, qemu_plugin_vcpu_cb_t QEMU_LAST);
void qemu_plugin_register_vcpu_idle_cb(qemu_id, qemu_plugin_vcpu_cb_t QEMU_LAST);
void qemu_plugin_register_vcpu_resume_cb(qemu_id, qemu_plugin_vcpu_cb_t QEMU_LAST);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_id, qemu_plugin_tb_cb_t QEMU_LAST);
void qemu_plugin_register_vcpu_syscall_cb(qemu_id, qemu_plugin_syscall_cb_t QEMU_LAST);
void qemu_plugin_register_vcpu_syscall_ret_cb(qemu_id, qemu_plugin_syscall_return_cb_t QEMU_LAST);
void qemu_plugin_register_atexit_cb(qemu_id, qemu_plugin_exit_cb_t, void *);

/* Forget all registrations and translated code, then call; takes effect when the vCPU leaves translated code. */
void qemu_plugin_register_flush_cb(qemu_id, qemu_plugin_id_cb_t QEMU_LAST);
void qemu_plugin_reset(qemu_id, qemu_plugin_id_cb_t QEMU_LAST);

void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, qemu_block_callback, enum qemu_callback_flags,
                                          void *);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *, qemu_block_callback, enum qemu_callback_flags,
                                            void *);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *, qemu_access_callback, enum qemu_callback_flags,
                                      enum qemu_mem_rw, void *);
bool qemu_plugin_mem_is_store(qemu_access);
unsigned qemu_plugin_mem_size_shift(qemu_access);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *);
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *);

#if NTRACE_QEMU_API == 1

/* ---- inline additions to any address */

const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *, enum qemu_inline_op, void *, uint64_t);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *, enum qemu_inline_op, void *, uint64_t);
void qemu_plugin_register_vcpu_mem_inline(struct qemu_plugin_insn *, enum qemu_mem_rw, enum qemu_inline_op, void *,
                                          uint64_t);

#else

/* ---- scoreboards: an element for each vCPU */

size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *, void *, size_t);

struct qemu_plugin_scoreboard;

typedef struct {
    struct qemu_plugin_scoreboard *score;
    size_t offset;
} qemu_plugin_u64;

struct qemu_plugin_scoreboard *qemu_plugin_scoreboard_new(size_t);
void *qemu_plugin_scoreboard_find(struct qemu_plugin_scoreboard *, unsigned vcpu);

void qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(struct qemu_plugin_tb *, enum qemu_inline_op, qemu_plugin_u64,
                                                       uint64_t);
void qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(struct qemu_plugin_insn *, enum qemu_inline_op,
                                                         qemu_plugin_u64, uint64_t);
void qemu_plugin_register_vcpu_mem_inline_per_vcpu(struct qemu_plugin_insn *, enum qemu_mem_rw, enum qemu_inline_op,
                                                   qemu_plugin_u64, uint64_t);

/* ---- registers and memory. Arrays are those of glib, which QEMU has loaded */

typedef struct {
    uint8_t *data;
    unsigned length;
} qemu_bytes; /* GByteArray */

qemu_bytes *g_byte_array_new(void);
qemu_bytes *g_byte_array_set_size(qemu_bytes *, unsigned);

struct qemu_plugin_register;

typedef struct {
    struct qemu_plugin_register *handle;
    const char *name, *feature;
#if NTRACE_QEMU_API >= 7
    bool is_readonly;
#endif
} qemu_plugin_reg_descriptor;

typedef struct {
    qemu_plugin_reg_descriptor *data;
    unsigned length;
} qemu_registers; /* GArray */

/* What an access has read or written; in an atomic instruction, both are reported. */
typedef struct {
    enum { QEMU_MEM_VALUE_U8, QEMU_MEM_VALUE_U16, QEMU_MEM_VALUE_U32, QEMU_MEM_VALUE_U64, QEMU_MEM_VALUE_U128 } type;
    union {
        uint8_t u8;
        uint16_t u16;
        uint32_t u32;
        uint64_t u64;
        struct {
            uint64_t low, high;
        } u128;
    } data;
} qemu_plugin_mem_value;

qemu_plugin_mem_value qemu_plugin_mem_get_value(qemu_access);
qemu_registers *qemu_plugin_get_registers(void);
bool qemu_plugin_read_memory_vaddr(uint64_t, qemu_bytes *, size_t);

#if NTRACE_QEMU_API >= 7
enum { QEMU_DISCON_INTERRUPT = 1, QEMU_DISCON_EXCEPTION = 2 };
typedef void (*qemu_plugin_discon_cb_t)(unsigned vcpu, int type, uint64_t from, uint64_t to, void *);
void qemu_plugin_register_vcpu_discon_cb(qemu_id, int types, qemu_plugin_discon_cb_t, void *);
bool qemu_plugin_read_register(struct qemu_plugin_register *, qemu_bytes *);
#else
int qemu_plugin_read_register(struct qemu_plugin_register *, qemu_bytes *); /* -1 on failure */
#endif
#endif

#endif

/* Logs of the simulator Spike: the options -l, --log-commits, or both.
 *
 * Lines of --log-commits ("core 0: 3 0x... (0x...)") report retired instructions. Lines of -l ("core 0: 0x...
 * (0x...)") report instructions before they execute. An instruction of -l has retired if the next line is another
 * instruction, or an exception with another epc. If the log has commit lines, only these are used.
 *
 * If an instruction of -l repeats directly (a jump to itself), Spike prints it once and reports the number of
 * executions later ("Executed N times"), possibly after an exception line. Invariant: the last -l line and the last
 * exception line are held until the next instruction line or the end of the log; everything before them has been
 * entered. Example: the line of a load, then "exception trap_load_access_fault" with the epc of the load: the load
 * did not retire, and the trap is entered. */
#include "base/allocator.h"
#include "base/text.h"

#include "ingress/logged.h"

#include <ntrace/ingress.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A larger number of executions is treated as a damaged line. This many take seconds to process. */
#define SPIKE_REPEATS_MAX (1ull << 28)

typedef struct listed {
    uint64_t pc, opcode;
} listed;

typedef struct logged_trap {
    bool waits;      /* not entered yet */
    uint8_t itype;
    uint64_t epc, cause, tval;
} logged_trap;

struct ntr_spike_log {
    ntr_classifier *classifier;
    const ntr_allocator *allocator;
    unsigned hart, xlen;
    ntr_logged_width width;
    bool ambiguous; /* `width` is not known, so that no line has an address */
    bool commits;    /* the log has commit lines */
    bool holds;      /* `last` is an -l line that may or may not have retired */
    listed last;
    uint64_t times;  /* number of executions of `last` */
    logged_trap trap;
    ntr_hart_state state;
    uint64_t line;   /* lines read */
    uint64_t count;  /* instructions read */
    char error[120];
};

ntr_status ntr_spike_log_new(ntr_classifier *classifier, unsigned hart, unsigned xlen, const ntr_allocator *allocator,
                             ntr_spike_log **out) {
    *out = NULL;
    ntr_spike_log *log = ntr_alloc(allocator, 1, sizeof *log);
    if (!log) return NTR_E_MEMORY;
    log->classifier = classifier;
    log->allocator = allocator;
    log->hart = hart;
    log->xlen = xlen;
    log->state.priv = NTR_PRIV_M;
    *out = log;
    return NTR_OK;
}

void ntr_spike_log_free(ntr_spike_log *log) {
    if (log) ntr_dealloc(log->allocator, log);
}

const char *ntr_spike_log_error(const ntr_spike_log *log) {
    return log->error;
}

uint64_t ntr_spike_log_count(const ntr_spike_log *log) {
    return log->count;
}

/* ---- reading a line ---------------------------------------------------------------------------------- */

typedef struct log_cursor {
    const char *at, *end;
} log_cursor;

static void skip_blanks(log_cursor *c) {
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t')) c->at++;
}

static bool take(log_cursor *c, const char *text) {
    size_t length = strlen(text);
    if ((size_t)(c->end - c->at) < length || memcmp(c->at, text, length) != 0) return false;
    c->at += length;
    skip_blanks(c);
    return true;
}

static bool take_number(log_cursor *c, uint64_t *value) {
    const char *end = ntr_read_number(c->at, c->end, value);
    if (!end) return false;
    c->at = end;
    skip_blanks(c);
    return true;
}

static ntr_status refuse(ntr_spike_log *log, const char *what) {
    snprintf(log->error, sizeof log->error, "line %" PRIu64 ": %s", log->line, what);
    return NTR_E_SYNTAX;
}

/* ---- entering instructions and traps
 * ------------------------------------------------------------------------------------ */

static ntr_status retire(ntr_spike_log *log, const listed *given) {
    const char *why = NULL;
    ntr_status status = ntr_logged_retire(log->classifier, log->xlen, given->pc, given->opcode, NULL, &why);
    return why ? refuse(log, why) : status;
}

/* Enters the held instruction, as often as it executed, and the held trap. An instruction that raised the trap did
 * not retire the last time. */
static ntr_status enter_held(ntr_spike_log *log) {
    ntr_status status = NTR_OK;
    uint64_t times = log->holds && !log->commits ? log->times : 0;
    bool raised = log->trap.waits && log->trap.itype == NTR_ITYPE_EXCEPTION && log->trap.epc == log->last.pc;
    if (times && raised) times--;
    for (; times && status == NTR_OK; times--) status = retire(log, &log->last);
    if (status == NTR_OK && log->trap.waits)
        status = ntr_classifier_trap(log->classifier, log->trap.itype, log->trap.epc, log->trap.cause, log->trap.tval);
    log->holds = log->trap.waits = false;
    return status;
}

static ntr_status executed(ntr_spike_log *log, const listed *insn) {
    ntr_status status = enter_held(log);
    log->holds = true;
    log->times = 1;
    log->last = *insn;
    return status;
}

static ntr_status committed(ntr_spike_log *log, const listed *insn, uint64_t priv) {
    log->commits = true;
    ntr_status status = enter_held(log);
    if (status == NTR_OK && priv != log->state.priv) {
        log->state.priv = (uint8_t)priv;
        status = ntr_classifier_set_state(log->classifier, &log->state);
    }
    return status == NTR_OK ? retire(log, insn) : status;
}

/* ---- the kinds of lines ------------------------------------------------------------------------------- */

/* Takes "0xPC (0xOPCODE)". */
static bool take_insn(ntr_spike_log *log, log_cursor *c, listed *insn) {
    const char *start = c->at;
    if (!take_number(c, &insn->pc)) return false;
    if (!log->xlen) {
        const char *end = start;
        while (end < c->end && *end != ' ') end++;
        log->xlen = (size_t)(end - start) <= strlen("0x01234567") ? 32 : 64;
        log->width.found = log->xlen == 64;
    }
    if (!ntr_logged_width_take(&log->width, insn->pc)) {
        refuse(log, NTR_LOGGED_WIDTH_WHY);
        log->ambiguous = true;
        return false;
    }
    if (!ntr_fit_address(log->xlen, &insn->pc)) return false;
    return take(c, "(") && take_number(c, &insn->opcode) && take(c, ")");
}

/* Names of exceptions by cause; empty names are reserved causes. */
static const char *const CAUSES[] = {
    "instruction_address_misaligned",
    "instruction_access_fault",
    "illegal_instruction",
    "breakpoint",
    "load_address_misaligned",
    "load_access_fault",
    "store_address_misaligned",
    "store_access_fault",
    "user_ecall",
    "supervisor_ecall",
    "virtual_supervisor_ecall",
    "machine_ecall",
    "instruction_page_fault",
    "load_page_fault",
    "",
    "store_page_fault",
    "double_trap",
    "",
    "software_check",
    "hardware_error",
    "instruction_guest_page_fault",
    "load_guest_page_fault",
    "virtual_instruction",
    "store_guest_page_fault",
};

static uint64_t cause_of(const char *name, size_t length) {
    for (size_t i = 0; i < sizeof CAUSES / sizeof *CAUSES; i++)
        if (strlen(CAUSES[i]) == length && !memcmp(CAUSES[i], name, length)) return i;
    return UINT64_MAX;
}

/* "trap_NAME, epc 0x..." or "interrupt #N, epc 0x...". */
static ntr_status exception_line(ntr_spike_log *log, log_cursor c) {
    logged_trap trap = {.waits = true, .itype = NTR_ITYPE_EXCEPTION};
    if (take(&c, "interrupt")) {
        trap.itype = NTR_ITYPE_INTERRUPT;
        if (!take(&c, "#") || !take_number(&c, &trap.cause)) return refuse(log, "interrupt number expected");
    } else if (take(&c, "trap_")) {
        const char *name = c.at;
        while (c.at < c.end && *c.at != ',') c.at++;
        trap.cause = cause_of(name, (size_t)(c.at - name));
    } else {
        return refuse(log, "kind of exception expected");
    }
    if (!take(&c, ",") || !take(&c, "epc") || !take_number(&c, &trap.epc)) return refuse(log, "epc expected");
    if (!ntr_fit_address(log->xlen, &trap.epc)) return refuse(log, "expected an epc of 32 bits");
    ntr_status status = log->trap.waits ? enter_held(log) : NTR_OK;
    log->trap = trap;
    return status;
}

static ntr_status times_line(ntr_spike_log *log, log_cursor c) {
    uint64_t times;
    if (!take_number(&c, &times) || !times || times > SPIKE_REPEATS_MAX || !take(&c, "times") || c.at < c.end)
        return refuse(log, "number of times expected");
    log->times = times;
    return NTR_OK;
}

static ntr_status insn_line(ntr_spike_log *log, log_cursor c) {
    listed insn;
    uint64_t priv = 0;
    bool commit = c.end - c.at > 1 && c.at[1] == ' ';
    if (commit && (!take_number(&c, &priv) || priv > NTR_PRIV_M || priv == 2))
        return refuse(log, "privilege 0, 1 or 3 expected");
    if (!take_insn(log, &c, &insn))
        return log->ambiguous ? NTR_E_SYNTAX : refuse(log, "pc and opcode in parentheses expected");
    if (insn.pc & 1) return refuse(log, "pc is odd");
    log->count++;
    return commit ? committed(log, &insn, priv) : executed(log, &insn);
}

ntr_status ntr_spike_log_line(ntr_spike_log *log, const char *line, size_t length) {
    log_cursor c = {line, line + length};
    uint64_t hart;
    log->line++;
    while (c.at < c.end && (c.end[-1] == '\r' || c.end[-1] == '\n')) c.end--;
    if (!take(&c, "core")) return NTR_OK;
    if (take(&c, "INTERRUPT")) return refuse(log, "this is a log of a core's RVFI tracer; read it with --rvfi");
    if (!take_number(&c, &hart) || !take(&c, ":") || hart != log->hart) return NTR_OK;
    if (take(&c, ">>>>") || take(&c, "trigger action")) return NTR_OK;
    if (take(&c, "exception")) return exception_line(log, c);
    if (take(&c, "Executed")) return times_line(log, c);
    if (take(&c, "tval")) return take_number(&c, &log->trap.tval) ? NTR_OK : refuse(log, "trap value expected");
    return insn_line(log, c);
}

ntr_status ntr_spike_log_finish(ntr_spike_log *log) {
    return enter_held(log);
}

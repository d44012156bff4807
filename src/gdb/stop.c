#include "gdb/server.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LIBRARY "library:;" /* the libraries have changed */

enum { SIGINT_NUMBER = 2, SIGTRAP_NUMBER = 5, PC_NUMBER = 0x20 };

static void add_register(ntr_gdb *gdb, unsigned number) {
    ntr_gdb_text_clear(&gdb->object);
    ntr_gdb_add_register(gdb, number, &gdb->object);
    if (gdb->object.size && gdb->object.bytes[0] == 'x') return; /* an unknown value cannot be expedited */
    ntr_gdb_text_print(&gdb->stop, "%02x:%s;", number, gdb->object.bytes);
}

/* LLDB reads 512 bytes around each word of the stack, which are not known: it gets the words that are, of the innermost
 * frames. */
static void add_stack(ntr_gdb *gdb) {
    enum { STACK_WORDS = 256 };
    const ntr_invented_stack *stack = gdb->lldb ? ntr_gdb_stack(gdb) : NULL;
    if (!stack) return;
    for (size_t i = stack->word_count > STACK_WORDS ? stack->word_count - STACK_WORDS : 0; i < stack->word_count; i++) {
        ntr_gdb_text_print(&gdb->stop, "memory:0x%" PRIx64 "=", stack->words[i].address);
        ntr_gdb_text_value(&gdb->stop, stack->words[i].value, gdb->xlen);
        ntr_gdb_text_print(&gdb->stop, ";");
    }
}

void ntr_gdb_stopped(ntr_gdb *gdb, uint16_t src, unsigned signal, const char *reason) {
    gdb->general = src;
    ntr_gdb_text_clear(&gdb->stop);
    ntr_gdb_text_print(&gdb->stop, "T%02xthread:%x;", signal, (unsigned)ntr_gdb_thread_number(gdb, src));
    add_register(gdb, PC_NUMBER);
    add_register(gdb, NTR_REG_SP);
    add_register(gdb, NTR_REG_RA);
    add_stack(gdb);
    ntr_gdb_text_print(&gdb->stop, "%s", reason);
}

void ntr_gdb_last_stop(ntr_gdb *gdb, const char *packet) {
    (void)packet;
    if (!gdb->stop.size)
        ntr_gdb_stopped(gdb, ntr_replay_current(gdb->replay), SIGTRAP_NUMBER, gdb->lldb ? LIBRARY : "");
    ntr_gdb_text_add(&gdb->answer, gdb->stop.bytes, gdb->stop.size);
    gdb->stop_waits = false;
}

/* A debugger reads libraries after a stop with `library`, and then resumes what it was doing. In the address space
 * of another process it has to do that before the stop: this answer is followed by a request to resume, whose answer is
 * the stop. */
static void answer_stop(ntr_gdb *gdb) {
    const bool changed = ntr_gdb_libraries_changed(gdb);
    if (changed && gdb->lldb) ntr_gdb_text_print(&gdb->stop, "%s", LIBRARY); /* it reads them, and stays */
    gdb->stop_waits = changed && !gdb->lldb;
    if (gdb->stop_waits)
        ntr_gdb_text_print(&gdb->answer, "T%02xthread:%x;%s", SIGTRAP_NUMBER,
                           (unsigned)ntr_gdb_thread_number(gdb, gdb->general), LIBRARY);
    else
        ntr_gdb_text_add(&gdb->answer, gdb->stop.bytes, gdb->stop.size);
}

bool ntr_gdb_waiting_stop(ntr_gdb *gdb) {
    if (!gdb->stop_waits) return false;
    ntr_gdb_text_add(&gdb->answer, gdb->stop.bytes, gdb->stop.size);
    gdb->stop_waits = false;
    return true;
}

void ntr_gdb_say(ntr_gdb *gdb, const char *format, ...) {
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (size < 0) return;
    if ((size_t)size >= sizeof line) size = (int)sizeof line - 1;
    ntr_gdb_text_clear(&gdb->object);
    ntr_gdb_text_print(&gdb->object, "O");
    ntr_gdb_text_hex(&gdb->object, line, (size_t)size);
    ntr_gdb_packet_add(&gdb->out, gdb->object.bytes, gdb->object.size);
}

void ntr_gdb_describe_gap(ntr_gdb_text *text, const ntr_event *e) {
    ntr_gdb_text_print(text, "%" PRIu64 " bytes lost here (message %" PRIu64 " at byte 0x%" PRIx64 ": %s)",
                       e->gap.until - e->offset, e->message, e->offset, ntr_status_text((ntr_status)e->reason));
    if (e->gap.from_known) ntr_gdb_text_print(text, "; execution is known up to 0x%" PRIx64, e->gap.from_address);
    if (e->gap.to_known) ntr_gdb_text_print(text, "; it goes on at 0x%" PRIx64, e->gap.to_address);
}

static void say_gap(ntr_gdb *gdb, const ntr_event *gap) {
    ntr_gdb_text_clear(&gdb->console);
    ntr_gdb_describe_gap(&gdb->console, gap);
    ntr_gdb_say(gdb, "ntrace: %s\n", gdb->console.bytes);
}

static const char *breakpoint_reason(ntr_gdb *gdb, uint16_t src) {
    ntr_replay_hart hart;
    if (ntr_replay_hart_at(gdb->replay, src, &hart) != NTR_OK) return "";
    if (!ntr_gdb_breakpoint_at(&gdb->breakpoints, hart.address)) return "";
    return ntr_gdb_breakpoint_is_hardware(&gdb->breakpoints, hart.address) ? "hwbreak:;" : "swbreak:;";
}

void ntr_gdb_report_stop(ntr_gdb *gdb, const ntr_replay_stop *stop, ntr_gdb_moved how) {
    unsigned signal = SIGTRAP_NUMBER;
    const char *reason = "";
    ntr_gdb_forget_state(gdb);
    if (stop->has_gap) say_gap(gdb, &stop->gap);
    switch ((ntr_replay_reason)stop->reason) {
    case NTR_REPLAY_HIT: reason = breakpoint_reason(gdb, stop->src); break;
    case NTR_REPLAY_BEGIN: reason = "replaylog:begin;"; break;
    case NTR_REPLAY_AT_END: reason = "replaylog:end;"; break;
    case NTR_REPLAY_INTERRUPTED: signal = SIGINT_NUMBER; break;
    case NTR_REPLAY_LIMIT:
        if (how != NTR_GDB_STEPPED) reason = breakpoint_reason(gdb, stop->src);
        if (how == NTR_GDB_RETURNED && !*reason) signal = 0;
        break;
    case NTR_REPLAY_GAP: break;
    }
    ntr_gdb_stopped(gdb, stop->src, signal, reason);
    answer_stop(gdb);
}

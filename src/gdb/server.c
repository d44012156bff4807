/* The server: takes packets and answers them by a table. An unknown packet has an empty answer, as the protocol wants.
 */
#include "gdb/server.h"

#include "base/allocator.h"
#include "base/config.h"
#include "gdb/symbol_frames.h"

#include <string.h>

/* ---- packets without a file of their own */

static void tell_supported(ntr_gdb *gdb, const char *packet) {
    (void)packet;
    ntr_gdb_text_print(&gdb->answer,
                       "PacketSize=%x;QStartNoAckMode+;ReverseStep+;ReverseContinue+;swbreak+;hwbreak+;vContSupported+;"
                       "qXfer:features:read+;qXfer:libraries:read+;qXfer:libraries-svr4:read+;qXfer:auxv:read+;"
                       "qXfer:exec-file:read+;qXfer:threads:read+",
                       NTR_GDB_PACKET_SIZE);
}

static void stop_acknowledging(ntr_gdb *gdb, const char *packet) {
    (void)packet;
    gdb->no_ack = true;
    ntr_gdb_text_print(&gdb->answer, "OK");
}

/* Only LLDB asks. The answer is empty: it selects threads by Hg then, as GDB does. */
static void note_lldb(ntr_gdb *gdb, const char *packet) {
    (void)packet;
    gdb->lldb = true;
}

static void tell_attached(ntr_gdb *gdb, const char *packet) {
    (void)packet;
    ntr_gdb_text_print(&gdb->answer, "1"); /* a debugger that quits then detaches */
}

/* LLDB takes the process of this number on its own machine for the program, if there is one: this number is above
 * those of Linux. Without an answer it is 1, that of the thread. */
static void tell_process(ntr_gdb *gdb, const char *packet) {
    (void)packet;
    ntr_gdb_text_print(&gdb->answer, "pid:7fffffff;");
}

static void tell_symbols(ntr_gdb *gdb, const char *packet) {
    (void)packet;
    ntr_gdb_text_print(&gdb->answer, "OK");
}

static void refuse_change(ntr_gdb *gdb, const char *packet) {
    (void)packet;
    ntr_gdb_text_print(&gdb->answer, "E.a recorded execution cannot be changed");
}

static void end_session(ntr_gdb *gdb, const char *packet) {
    gdb->ended = true;
    if (packet[0] != 'k') ntr_gdb_text_print(&gdb->answer, "OK");
}

/* Z0,ADDRESS,KIND and z0: breakpoints; other types are not supported, which the empty answer says. */
static void change_breakpoint(ntr_gdb *gdb, const char *packet) {
    uint64_t address, kind;
    const bool hardware = packet[1] == '1';
    const char *at = packet + 2;
    if (packet[1] != '0' && packet[1] != '1') return;
    if (!ntr_gdb_character(&at, ',') || !ntr_gdb_number(&at, &address) || !ntr_gdb_character(&at, ',') ||
        !ntr_gdb_number(&at, &kind)) {
        ntr_gdb_text_print(&gdb->answer, "E01");
        return;
    }
    ntr_status status = NTR_OK;
    if (packet[0] == 'Z')
        status = ntr_gdb_breakpoint_add(&gdb->breakpoints, address, hardware);
    else
        ntr_gdb_breakpoint_remove(&gdb->breakpoints, address, hardware);
    if (packet[0] == 'z') gdb->in_stub = false; /* it has stopped */
    ntr_gdb_text_print(&gdb->answer, status == NTR_OK ? "OK" : "E01");
}

/* ---- the table */

enum match { WHOLE_PACKET, PACKET_BEGINNING };

static const struct handler {
    const char *packet;
    enum match match;
    void (*handle)(ntr_gdb *gdb, const char *packet);
} handlers[] = {
    {"?", WHOLE_PACKET, ntr_gdb_last_stop},
    {"g", WHOLE_PACKET, ntr_gdb_read_registers},
    {"p", PACKET_BEGINNING, ntr_gdb_read_register},
    {"m", PACKET_BEGINNING, ntr_gdb_read_memory},
    {"vCont", PACKET_BEGINNING, ntr_gdb_resume},
    {"bs", WHOLE_PACKET, ntr_gdb_reverse},
    {"bc", WHOLE_PACKET, ntr_gdb_reverse},
    {"s", PACKET_BEGINNING, ntr_gdb_resume_old},
    {"c", PACKET_BEGINNING, ntr_gdb_resume_old},
    {"Z", PACKET_BEGINNING, change_breakpoint},
    {"z", PACKET_BEGINNING, change_breakpoint},
    {"H", PACKET_BEGINNING, ntr_gdb_select_thread},
    {"T", PACKET_BEGINNING, ntr_gdb_thread_alive},
    {"qC", WHOLE_PACKET, ntr_gdb_thread_packets},
    {"qfThreadInfo", WHOLE_PACKET, ntr_gdb_thread_packets},
    {"qsThreadInfo", WHOLE_PACKET, ntr_gdb_thread_packets},
    {"qThreadExtraInfo,", PACKET_BEGINNING, ntr_gdb_thread_packets},
    {"qProcessInfo", WHOLE_PACKET, tell_process},
    {"qSupported", PACKET_BEGINNING, tell_supported},
    {"QStartNoAckMode", WHOLE_PACKET, stop_acknowledging},
    {"QThreadSuffixSupported", WHOLE_PACKET, note_lldb},
    {"qAttached", PACKET_BEGINNING, tell_attached},
    {"qSymbol", PACKET_BEGINNING, tell_symbols},
    {"qOffsets", WHOLE_PACKET, ntr_gdb_offsets},
    {"qXfer:", PACKET_BEGINNING, ntr_gdb_transfer},
    {"vFile:", PACKET_BEGINNING, ntr_gdb_file_packets},
    {"qRcmd,", PACKET_BEGINNING, ntr_gdb_monitor_packet},
    {"G", PACKET_BEGINNING, refuse_change},
    {"P", PACKET_BEGINNING, refuse_change},
    {"M", PACKET_BEGINNING, refuse_change},
    {"X", PACKET_BEGINNING, refuse_change},
    {"D", PACKET_BEGINNING, end_session},
    {"k", WHOLE_PACKET, end_session},
    {"vKill", PACKET_BEGINNING, end_session},
};

static const struct handler *find_handler(const char *packet) {
    for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++) {
        const struct handler *h = &handlers[i];
        bool same = h->match == WHOLE_PACKET ? strcmp(packet, h->packet) == 0
                                             : strncmp(packet, h->packet, strlen(h->packet)) == 0;
        if (same) return h;
    }
    return NULL;
}

/* ---- input and output */

static void send_answer(ntr_gdb *gdb) {
    ntr_gdb_packet_add(&gdb->out, gdb->answer.bytes ? gdb->answer.bytes : "", gdb->answer.size);
}

static void take_packet(ntr_gdb *gdb) {
    const struct handler *handler = find_handler(gdb->packets.data);
    if (!gdb->no_ack) ntr_gdb_text_print(&gdb->out, "+");
    ntr_gdb_text_clear(&gdb->answer);
    if (handler) handler->handle(gdb, gdb->packets.data);
    if (gdb->failed == NTR_OK && (!gdb->ended || gdb->answer.size)) send_answer(gdb);
}

static ntr_status flush(ntr_gdb *gdb) {
    if (gdb->out.failed || gdb->answer.failed || gdb->object.failed || gdb->console.failed || gdb->stop.failed)
        return NTR_E_MEMORY;
    ntr_status status = gdb->out.size ? gdb->config.write(gdb->config.user, gdb->out.bytes, gdb->out.size) : NTR_OK;
    ntr_gdb_text_clear(&gdb->out);
    return status;
}

ntr_status ntr_gdb_feed(ntr_gdb *gdb, const void *bytes, size_t size) {
    for (size_t i = 0; i < size && !gdb->ended; i++) {
        ntr_gdb_input input = ntr_gdb_packets_take(&gdb->packets, ((const uint8_t *)bytes)[i]);
        if (input == NTR_GDB_NOTHING) continue;
        if (input == NTR_GDB_PACKET) take_packet(gdb);
        if (input == NTR_GDB_DAMAGED && !gdb->no_ack) ntr_gdb_text_print(&gdb->out, "-");
        if (input == NTR_GDB_DAMAGED && gdb->no_ack) ntr_gdb_packet_add(&gdb->out, "E01", 3);
        if (input == NTR_GDB_REPEAT && !gdb->no_ack) send_answer(gdb);
        ntr_status status = gdb->failed ? gdb->failed : flush(gdb);
        if (status != NTR_OK) return status;
    }
    return gdb->ended ? NTR_END : NTR_OK;
}

/* ---- the object */

/* ELF header flags of RISC-V: the float ABI (psABI specification, "File Header"). */
enum { FLOAT_ABI = 0x6, FLOAT_SINGLE = 0x2, FLOAT_DOUBLE = 0x4, FLOAT_QUAD = 0x6 };

static void choose_registers(ntr_gdb *gdb) {
    unsigned xlen = ntr_program_xlen(gdb->config.program);
    unsigned abi = 0;
    for (size_t i = 0; i < gdb->images.count; i++) /* the largest of all files: a debugger refuses a smaller one */
        if ((gdb->images.items[i].flags & FLOAT_ABI) > abi) abi = gdb->images.items[i].flags & FLOAT_ABI;
    gdb->xlen = xlen == 32 ? 32 : 64;
    gdb->has_fpu = abi != 0;
    gdb->float_bits = abi == FLOAT_SINGLE ? 32 : 64;
}

static bool has_own_rule(void *user, ntr_place place) {
    return ntr_gdb_images_made(&((const ntr_gdb *)user)->images, place);
}

static ntr_status make_rules(ntr_gdb *gdb) {
    const ntr_frame_rule own = ntr_gdb_symbol_frames_rule(gdb->xlen);
    gdb->rules = ntr_frame_rules_new(gdb->config.program, gdb->config.debug, gdb->config.debug_path, gdb->allocator);
    if (!gdb->rules) return NTR_E_MEMORY;
    ntr_frame_rules_set_own(gdb->rules, &own, has_own_rule, gdb);
    gdb->stack.rules = gdb->rules;
    gdb->stack.xlen = gdb->xlen;
    return NTR_OK;
}

static ntr_status start(ntr_gdb *gdb, const ntr_gdb_config *config) {
    gdb->config = *config;
    if (config->allocator) {
        gdb->allocator_copy = *config->allocator;
        gdb->allocator = &gdb->allocator_copy;
    }
    gdb->replay = config->replay;
    gdb->answer.allocator = gdb->out.allocator = gdb->object.allocator = gdb->allocator;
    gdb->console.allocator = gdb->stop.allocator = gdb->images.allocator = gdb->allocator;
    gdb->breakpoints.allocator = gdb->stack.allocator = gdb->allocator;
    gdb->images.program = config->program;
    gdb->images.folder = config->folder;
    ntr_status status = ntr_gdb_images_load(&gdb->images);
    if (status != NTR_OK) return status;
    gdb->listed = ntr_alloc(gdb->allocator, gdb->images.count + 1, sizeof *gdb->listed);
    if (!gdb->listed) return NTR_E_MEMORY;
    choose_registers(gdb);
    status = make_rules(gdb);
    if (status != NTR_OK) return status;
    status = ntr_replay_go(gdb->replay, 0);
    gdb->resumed_any = true;
    gdb->general = ntr_replay_current(gdb->replay);
    return status == NTR_END ? NTR_OK : status;
}

ntr_status ntr_gdb_new(const ntr_gdb_config *config, ntr_gdb **out) {
    *out = NULL;
    ntr_gdb_config own;
    ntr_status result = ntr_config_load(&own, sizeof own, config);
    if (result == NTR_OK && (!own.replay || !own.program || !own.write)) result = NTR_E_INVALID;
    ntr_gdb *gdb = result == NTR_OK ? ntr_alloc(own.allocator, 1, sizeof *gdb) : NULL;
    if (!gdb && result == NTR_OK) result = NTR_E_MEMORY;
    if (gdb) result = start(gdb, &own);
    if (result == NTR_OK)
        *out = gdb;
    else
        ntr_gdb_free(gdb);
    return result;
}

void ntr_gdb_free(ntr_gdb *gdb) {
    if (!gdb) return;
    const ntr_allocator copy = gdb->allocator_copy;
    ntr_gdb_text *texts[] = {&gdb->answer, &gdb->out, &gdb->object, &gdb->console, &gdb->stop};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) ntr_gdb_text_release(texts[i]);
    ntr_gdb_files_close(gdb);
    ntr_gdb_images_release(&gdb->images);
    ntr_dealloc(gdb->allocator, gdb->listed);
    ntr_gdb_breakpoints_release(&gdb->breakpoints);
    ntr_invented_stack_release(&gdb->stack);
    ntr_frame_rules_free(gdb->rules);
    ntr_dealloc(gdb->allocator ? &copy : NULL, gdb);
}

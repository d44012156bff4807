/* Threads are harts: thread number = hart number + 1. */
#include "gdb/server.h"

#include <string.h>

uint32_t ntr_gdb_thread_number(const ntr_gdb *gdb, uint16_t src) {
    return (gdb->config.hart ? gdb->config.hart(gdb->config.user, src) : src) + 1;
}

bool ntr_gdb_thread(ntr_gdb *gdb, const char **at, uint16_t *src, bool *any) {
    size_t count;
    uint64_t number = 0;
    const uint16_t *harts = ntr_replay_harts(gdb->replay, &count);
    *any = ntr_gdb_character(at, '-');
    if (!ntr_gdb_number(at, &number)) return false;
    *any |= number == 0;
    if (*any) return true;
    for (size_t i = 0; i < count; i++)
        if (ntr_gdb_thread_number(gdb, harts[i]) == number) {
            *src = harts[i];
            return true;
        }
    return false;
}

uint16_t ntr_gdb_resumed(const ntr_gdb *gdb) {
    return gdb->resumed_any ? gdb->general : gdb->resumed;
}

static void list(ntr_gdb *gdb) {
    size_t count;
    const uint16_t *harts = ntr_replay_harts(gdb->replay, &count);
    ntr_gdb_text_print(&gdb->answer, "m");
    for (size_t i = 0; i < count; i++)
        ntr_gdb_text_print(&gdb->answer, "%s%x", i ? "," : "", (unsigned)ntr_gdb_thread_number(gdb, harts[i]));
    if (!count) ntr_gdb_text_print(&gdb->answer, "1");
}

void ntr_gdb_describe_thread(ntr_gdb *gdb, uint16_t src, ntr_gdb_text *text) {
    static const char *const modes[2][4] = {{"U", "S", "", "M"}, {"VU", "VS", "", ""}};
    ntr_replay_hart hart;
    ntr_gdb_text_print(text, "hart %u", (unsigned)ntr_gdb_thread_number(gdb, src) - 1);
    if (ntr_replay_hart_at(gdb->replay, src, &hart) != NTR_OK) return;
    unsigned mode = hart.context.prv;
    if (mode == NTR_PRV_UNKNOWN && gdb->images.linux_program) mode = 0; /* no Ownership messages: user mode */
    if (mode < 4 && modes[hart.context.v & 1][mode][0])
        ntr_gdb_text_print(text, ", %s-mode", modes[hart.context.v & 1][mode]);
    if (hart.ended) ntr_gdb_text_print(text, ", ended");
}

static void describe(ntr_gdb *gdb, const char *at) {
    uint16_t src = gdb->general;
    bool any;
    if (!ntr_gdb_thread(gdb, &at, &src, &any)) {
        ntr_gdb_text_print(&gdb->answer, "E01");
        return;
    }
    ntr_gdb_text_clear(&gdb->object);
    ntr_gdb_describe_thread(gdb, src, &gdb->object);
    ntr_gdb_text_hex(&gdb->answer, gdb->object.bytes, gdb->object.size);
}

void ntr_gdb_thread_packets(ntr_gdb *gdb, const char *packet) {
    if (strcmp(packet, "qfThreadInfo") == 0)
        list(gdb);
    else if (strcmp(packet, "qsThreadInfo") == 0)
        ntr_gdb_text_print(&gdb->answer, "l");
    else if (strcmp(packet, "qC") == 0)
        ntr_gdb_text_print(&gdb->answer, "QC%x", (unsigned)ntr_gdb_thread_number(gdb, gdb->general));
    else if (strncmp(packet, "qThreadExtraInfo,", 17) == 0)
        describe(gdb, packet + 17);
}

void ntr_gdb_select_thread(ntr_gdb *gdb, const char *packet) {
    uint16_t src = gdb->general;
    bool any = false;
    const char *at = packet + 2;
    if ((packet[1] != 'g' && packet[1] != 'c') || !ntr_gdb_thread(gdb, &at, &src, &any)) {
        ntr_gdb_text_print(&gdb->answer, "E01");
        return;
    }
    if (packet[1] == 'g') gdb->general = src;
    if (packet[1] == 'c') gdb->resumed = src;
    if (packet[1] == 'c') gdb->resumed_any = any;
    ntr_gdb_text_print(&gdb->answer, "OK");
}

void ntr_gdb_thread_alive(ntr_gdb *gdb, const char *packet) {
    uint16_t src;
    bool any;
    const char *at = packet + 1;
    ntr_gdb_text_print(&gdb->answer, ntr_gdb_thread(gdb, &at, &src, &any) ? "OK" : "E01");
}

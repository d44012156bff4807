#include "target/tcl.h"
#include "target/buses.h"

#include "base/macros.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COMMAND = 512, FIFO_WORDS = 256, MEMORY_WORDS = 256 };

static ntr_status fail(tcl_client *client, const char *reason) {
    size_t used = 0;
    for (; *reason && used + 1 < sizeof client->error; reason++) {
        const bool blank = isspace((unsigned char)*reason) || iscntrl((unsigned char)*reason);
        if (blank && (!used || client->error[used - 1] == ' ')) continue;
        client->error[used++] = blank ? ' ' : *reason;
    }
    while (used && client->error[used - 1] == ' ') used--;
    client->error[used] = 0;
    return NTR_E_IO;
}

/* Removes the braces around the second element of a list of two. */
static char *element(char *text) {
    while (*text == ' ') text++;
    const size_t length = strlen(text);
    if (length < 2 || text[0] != '{' || text[length - 1] != '}') return text;
    text[length - 1] = 0;
    return text + 1;
}

/* Results carry no mark of failure; `catch` gives it: the result is "0 VALUE" or "1 {reason}". */
ntr_status tcl_eval(tcl_client *client, const char *command) {
    char wrapped[COMMAND + 32];
    const int length = snprintf(wrapped, sizeof wrapped, "list [catch {%s} r] $r", command);
    if (length < 0 || (size_t)length >= sizeof wrapped) return fail(client, "the command is too long");
    TRY(client->run(client->user, wrapped, client->result));
    char *text = client->result;
    size_t size = strlen(text);
    while (size && isspace((unsigned char)text[size - 1])) text[--size] = 0;
    if ((text[0] != '0' && text[0] != '1') || (text[1] && text[1] != ' ')) {
        char reason[120];
        snprintf(reason, sizeof reason, "unexpected answer: %.80s", text);
        return fail(client, reason);
    }
    const bool failed = text[0] == '1';
    char *value = element(text + 1);
    for (size = strlen(value); size && isspace((unsigned char)value[size - 1]);) value[--size] = 0;
    memmove(client->result, value, size + 1);
    return failed ? fail(client, client->result) : NTR_OK;
}

/* A physical access needs sysbus access; without it, the hart must be halted. */
ntr_status tcl_prepare(tcl_client *client) {
    TRY(tcl_eval(client, "version"));
    if (!strstr(client->result, "Open On-Chip Debugger")) return fail(client, "this is not OpenOCD");
    TRY(tcl_eval(client, "info commands read_memory"));
    if (!strstr(client->result, "read_memory")) return fail(client, "OpenOCD 0.12 or later is required (read_memory)");
    tcl_eval(client, "riscv set_mem_access sysbus progbuf abstract"); /* targets of another kind have no such command */
    tcl_eval(client, "riscv set_enable_virt2phys off");
    client->error[0] = 0;
    return NTR_OK;
}

/* ---- accesses */

/* Returns the reason that OpenOCD writes to its log only. */
static ntr_status fail_read(tcl_client *client, uint64_t address) {
    char command[80], first[sizeof client->error];
    memcpy(first, client->error, sizeof first);
    snprintf(command, sizeof command, "capture {catch {mdw phys 0x%" PRIx64 "}}", address);
    if (tcl_eval(client, command) == NTR_OK && strlen(client->result) > 2) return fail(client, client->result);
    return fail(client, first);
}

/* Parses `count` numbers, separated by blanks and line feeds. */
static bool parse_words(const char *text, uint32_t *words, size_t count) {
    for (size_t i = 0; i < count; i++) {
        char *end;
        while (isspace((unsigned char)*text)) text++;
        if (!isdigit((unsigned char)*text)) return false;
        const unsigned long long value = strtoull(text, &end, 0);
        if (value > UINT32_MAX || (*end && !isspace((unsigned char)*end))) return false;
        words[i] = (uint32_t)value;
        text = end;
    }
    while (isspace((unsigned char)*text)) text++;
    return !*text;
}

static ntr_status take_words(tcl_client *client, uint32_t *words, size_t count) {
    char reason[120];
    if (parse_words(client->result, words, count)) return NTR_OK;
    snprintf(reason, sizeof reason, "expected %zu words, found '%.60s'", count, client->result);
    return fail(client, reason);
}

ntr_status tcl_read32(tcl_client *client, uint64_t address, uint32_t *value) {
    char command[80];
    snprintf(command, sizeof command, "read_memory 0x%" PRIx64 " 32 1 phys", address);
    if (tcl_eval(client, command) != NTR_OK) return fail_read(client, address);
    return take_words(client, value, 1);
}

ntr_status tcl_write32(tcl_client *client, uint64_t address, uint32_t value) {
    char command[80];
    snprintf(command, sizeof command, "write_memory 0x%" PRIx64 " 32 {0x%" PRIx32 "} phys", address, value);
    return tcl_eval(client, command);
}

/* A count of read_memory goes to successive addresses, so the server repeats single reads. */
static ntr_status read_repeated(tcl_client *client, uint64_t address, uint32_t *words, size_t count) {
    char command[COMMAND];
    snprintf(command, sizeof command,
             "set r {}; for {set i 0} {$i < %zu} {incr i} {append r [read_memory 0x%" PRIx64 " 32 1 phys] { }}; set r",
             count, address);
    TRY(tcl_eval(client, command));
    return take_words(client, words, count);
}

/* One scan for each word instead of five: sbreadondata lets the read of sbdata0 start the next access. It is switched
 * off before the last word, else one more word would be read. The debug module at address 0 must be the only one. */
static ntr_status read_direct(tcl_client *client, uint64_t address, uint32_t *words, size_t count) {
    enum { SBCS = 0x38, SBADDRESS0 = 0x39, SBADDRESS1 = 0x3a, SBDATA0 = 0x3c };
    const uint32_t access = 2u << 17, begin = 1u << 20 | 1u << 15 | access, clear = 1u << 22 | 7u << 12;
    char command[COMMAND];
    uint32_t state;
    snprintf(command, sizeof command,
             "riscv dmi_write %d %" PRIu32 "; riscv dmi_write %d %" PRIu32 "; riscv dmi_write %d %" PRIu32
             "; set r {}; "
             "for {set i 1} {$i < %zu} {incr i} {append r [riscv dmi_read %d] { }}; riscv dmi_write %d %" PRIu32 "; "
             "append r [riscv dmi_read %d] { } [riscv dmi_read %d]; set r",
             SBCS, begin | clear, SBADDRESS1, (uint32_t)(address >> 32), SBADDRESS0, (uint32_t)address, count, SBDATA0,
             SBCS, access, SBDATA0, SBCS);
    TRY(tcl_eval(client, command));
    char *last = strrchr(client->result, ' ');
    if (!last || !parse_words(last + 1, &state, 1)) return fail(client, "riscv dmi_read gives no words");
    *last = 0;
    if (state & clear) return fail(client, "the system bus of the debug module reports an error (sbcs)");
    return take_words(client, words, count);
}

ntr_status tcl_read_fifo(tcl_client *client, uint64_t address, uint32_t *words, size_t count) {
    for (size_t part; count; words += part, count -= part) {
        part = count < FIFO_WORDS ? count : FIFO_WORDS;
        TRY(client->direct ? read_direct(client, address, words, part) : read_repeated(client, address, words, part));
    }
    return NTR_OK;
}

ntr_status tcl_read_memory(tcl_client *client, uint64_t address, uint8_t *out, size_t bytes) {
    const uint64_t first = address & ~(uint64_t)(BUS_WORD - 1);
    for (uint64_t at = first; at < address + bytes;) {
        uint32_t words[MEMORY_WORDS] = {0};
        char command[80];
        const uint64_t left = (address + bytes - at + BUS_WORD - 1) / BUS_WORD;
        const size_t part = left < MEMORY_WORDS ? (size_t)left : MEMORY_WORDS;
        snprintf(command, sizeof command, "read_memory 0x%" PRIx64 " 32 %zu phys", at, part);
        if (tcl_eval(client, command) != NTR_OK) return fail_read(client, at);
        TRY(take_words(client, words, part));
        for (size_t i = 0; i < part * BUS_WORD; i++, at++)
            if (at >= address && at < address + bytes)
                out[at - address] = (uint8_t)(words[i / BUS_WORD] >> 8 * (i % BUS_WORD));
    }
    return NTR_OK;
}

ntr_status tcl_hart(tcl_client *client, ntr_bus_hart what, bool *halted) {
    if (what == NTR_BUS_HART_HALT) return tcl_eval(client, "halt");
    if (what == NTR_BUS_HART_RESUME) return tcl_eval(client, "resume");
    TRY(tcl_eval(client, "[target current] curstate"));
    if (strcmp(client->result, "unknown") == 0) { /* OpenOCD has just started, and has not asked the hart yet */
        TRY(tcl_eval(client, "[target current] arp_poll"));
        TRY(tcl_eval(client, "[target current] curstate"));
    }
    *halted = strcmp(client->result, "halted") == 0;
    return *halted || strcmp(client->result, "running") == 0 ? NTR_OK : NTR_E_UNSUPPORTED;
}

/* RVVI-TEXT, versions 0.1 to 0.3: lines of elements, each a key and its values.
 *
 * A line is a clock of the interface: the instructions of a line retired together, and their order is that of ORDER, or
 * of the text. An element belongs to the hart of the last HART and to a slot: that of the last ISSUE in the line,
 * otherwise 0, and one more with each further RET or TRAP. "\" at its end continues a line. Comments are in single
 * quotes, between any two tokens.
 *
 * RVVI-TEXT has no element for interrupts. The first instruction of a handler shows one when it comes with a new cause
 * register (mcause, scause, vscause) whose highest bit is set and does not write that register itself. */
#include "ingress/core_log.h"

#include "base/text.h"

#include <inttypes.h>
#include <string.h>

typedef struct rvvi_cursor {
    const char *at, *end;
} rvvi_cursor;

typedef struct rvvi_token {
    const char *text;
    size_t length;
} rvvi_token;

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

/* Skips blanks and comments. Returns false if a comment does not end. */
static bool skip(rvvi_cursor *c) {
    for (; c->at < c->end; c->at++) {
        if (is_blank(*c->at)) continue;
        if (*c->at != '\'') return true;
        c->at = memchr(c->at + 1, '\'', (size_t)(c->end - c->at - 1));
        if (!c->at) {
            c->at = c->end;
            return false;
        }
    }
    return true;
}

static ntr_status next(ntr_core_log *log, rvvi_cursor *c, rvvi_token *token) {
    *token = (rvvi_token){"", 0};
    if (!skip(c)) return ntr_core_log_refuse(log, "expected the end of a comment (')");
    token->text = c->at;
    token->length = 0;
    if (c->at == c->end) return NTR_END;
    if (*c->at == '"') {
        c->at++;
        const char *close = memchr(c->at, '"', (size_t)(c->end - c->at));
        if (!close) return ntr_core_log_refuse(log, "expected the end of a name (\")");
        *token = (rvvi_token){c->at, (size_t)(close - c->at)};
        c->at = close + 1;
        return NTR_OK;
    }
    while (c->at < c->end && !is_blank(*c->at) && *c->at != '\'') c->at++;
    token->length = (size_t)(c->at - token->text);
    return NTR_OK;
}

static ntr_status value_of(ntr_core_log *log, rvvi_cursor *c, const char *key, rvvi_token *token) {
    ntr_status status = next(log, c, token);
    return status == NTR_END ? ntr_core_log_refuse(log, "%s: expected a value, found the end of the line", key)
                             : status;
}

static ntr_status number(ntr_core_log *log, rvvi_cursor *c, const char *key, uint64_t *value) {
    rvvi_token token;
    ntr_status status = value_of(log, c, key, &token);
    if (status == NTR_OK && ntr_parse_number(token.text, token.length, value) != NTR_OK)
        status = ntr_core_log_refuse(log, "%s: expected a number", key);
    return status;
}

/* A hexadecimal number. Version 0.1 wrote it without 0x. */
static ntr_status hex(ntr_core_log *log, rvvi_cursor *c, const char *key, uint64_t *value) {
    rvvi_token t;
    ntr_status status = value_of(log, c, key, &t);
    if (status != NTR_OK) return status;
    if (t.length > 2 && t.text[0] == '0' && (t.text[1] | 0x20) == 'x') t.text += 2, t.length -= 2;
    *value = 0;
    bool good = t.length > 0;
    for (size_t i = 0; i < t.length && good; i++) {
        good = ntr_digit(t.text[i]) < 16 && *value >> 60 == 0;
        *value = *value << 4 | (ntr_digit(t.text[i]) & 15);
    }
    return good ? NTR_OK : ntr_core_log_refuse(log, "%s: expected a hexadecimal number of at most 64 bits", key);
}

static bool is(rvvi_token token, const char *text) {
    return token.length == strlen(text) && memcmp(token.text, text, token.length) == 0;
}

static ntr_status ignore(ntr_core_log *log, rvvi_cursor *c, const char *key, uint64_t count) {
    rvvi_token token;
    ntr_status status = NTR_OK;
    for (; count && status == NTR_OK; count--) status = value_of(log, c, key, &token);
    return status;
}

/* Goes to a slot. */
static rvvi_slot *slot_of(rvvi_reader *r, unsigned number_of_slot) {
    r->slot = number_of_slot;
    if (r->used <= r->slot) r->used = r->slot + 1;
    return &r->slots[r->slot];
}

/* ---- elements */

static ntr_status take_version(ntr_core_log *log, rvvi_cursor *c, rvvi_slot *slot) {
    uint64_t major = 0, minor = 0;
    (void)slot;
    if (log->rvvi.started) return ntr_core_log_refuse(log, "expected VERSION at the beginning only");
    ntr_status status = number(log, c, "VERSION", &major);
    if (status == NTR_OK) status = number(log, c, "VERSION", &minor);
    if (status == NTR_OK && major > 0)
        status = ntr_core_log_refuse(log, "expected RVVI-TEXT version 0, found %" PRIu64 ".%" PRIu64, major, minor);
    return status;
}

static ntr_status take_vendor(ntr_core_log *log, rvvi_cursor *c, rvvi_slot *slot) {
    rvvi_token name;
    (void)slot;
    ntr_status status = value_of(log, c, "VENDOR", &name);
    log->rvvi.ours = status == NTR_OK && is(name, "ntrace");
    return status == NTR_OK ? ignore(log, c, "VENDOR", 2) : status;
}

static ntr_status take_xlen(ntr_core_log *log, rvvi_cursor *c) {
    uint64_t xlen = 0;
    ntr_status status = number(log, c, "XLEN", &xlen);
    if (status != NTR_OK) return status;
    if (xlen != 32 && xlen != 64) return ntr_core_log_refuse(log, "XLEN: expected 32 or 64, found %" PRIu64, xlen);
    if (log->xlen && log->xlen != xlen)
        return ntr_core_log_refuse(log, "XLEN: expected %u (--xlen or the program), found %" PRIu64, log->xlen, xlen);
    log->xlen = (unsigned)xlen;
    return NTR_OK;
}

static ntr_status take_params(ntr_core_log *log, rvvi_cursor *c, rvvi_slot *slot) {
    uint64_t count = 0, harts = 0;
    rvvi_token key;
    (void)slot;
    ntr_status status = number(log, c, "PARAMS", &count);
    for (; count && status == NTR_OK; count--) {
        status = value_of(log, c, "PARAMS", &key);
        if (status != NTR_OK) break;
        if (is(key, "XLEN")) {
            status = take_xlen(log, c);
        } else if (is(key, "NHART")) {
            status = number(log, c, "NHART", &harts);
            if (status == NTR_OK && log->hart >= harts)
                status = ntr_core_log_refuse(log, "--hart: expected less than NHART (%" PRIu64 "), found %u", harts,
                                             log->hart);
        } else {
            status = ignore(log, c, "PARAMS", 1);
        }
    }
    return status;
}

static ntr_status take_hart(ntr_core_log *log, rvvi_cursor *c, rvvi_slot *slot) {
    (void)slot;
    log->rvvi.slot = 0;
    log->rvvi.taken = false;
    return number(log, c, "HART", &log->rvvi.now);
}

static ntr_status take_issue(ntr_core_log *log, rvvi_cursor *c, rvvi_slot *slot) {
    uint64_t issue = 0;
    (void)slot;
    ntr_status status = number(log, c, "ISSUE", &issue);
    if (status == NTR_OK && issue >= CORE_SLOTS)
        status = ntr_core_log_refuse(log, "ISSUE: expected less than %d, found %" PRIu64, CORE_SLOTS, issue);
    if (status == NTR_OK) slot_of(&log->rvvi, (unsigned)issue);
    log->rvvi.taken = false;
    return status;
}

static ntr_status take_order(ntr_core_log *log, rvvi_cursor *c, rvvi_slot *slot) {
    uint64_t order = 0;
    ntr_status status = number(log, c, "ORDER", &order);
    if (status != NTR_OK || !slot) return status;
    log->rvvi.order = order;
    if (slot->valid) slot->record.order = log->rvvi.order++;
    return NTR_OK;
}

static ntr_status take_insn(ntr_core_log *log, rvvi_cursor *c, const char *key, rvvi_slot *slot, bool trap) {
    uint64_t pc = 0, insn = 0;
    ntr_status status = hex(log, c, key, &pc);
    if (status == NTR_OK) status = hex(log, c, key, &insn);
    if (status != NTR_OK || !slot) return status;
    if (log->rvvi.taken) {
        if (log->rvvi.slot + 1 == CORE_SLOTS)
            return ntr_core_log_refuse(log, "expected at most %d instructions in a line", CORE_SLOTS);
        slot = slot_of(&log->rvvi, log->rvvi.slot + 1);
    }
    if (slot->valid) return ntr_core_log_refuse(log, "expected one instruction in slot %u, found two", log->rvvi.slot);
    log->rvvi.taken = slot->valid = true;
    slot->record.pc = pc;
    slot->record.insn = insn;
    slot->record.trap = trap;
    slot->record.order = log->rvvi.order++;
    slot->record.has_order = true;
    return NTR_OK;
}

static ntr_status take_ret(ntr_core_log *log, rvvi_cursor *c, rvvi_slot *slot) {
    return take_insn(log, c, "RET", slot, false);
}

static ntr_status take_trap(ntr_core_log *log, rvvi_cursor *c, rvvi_slot *slot) {
    return take_insn(log, c, "TRAP", slot, true);
}

/* mcause, scause and vscause are 0x342, 0x142 and 0x242; their epc and tval are beside them. */
static ntr_status take_csr(ntr_core_log *log, rvvi_cursor *c, rvvi_slot *slot) {
    uint64_t index = 0, value = 0;
    ntr_status status = hex(log, c, "C", &index);
    if (status == NTR_OK) status = hex(log, c, "C", &value);
    if (status != NTR_OK || !slot) return status;
    if ((index & ~UINT64_C(0x300)) == 0x41) slot->csr_epc = value, slot->has_epc = true;
    if ((index & ~UINT64_C(0x300)) == 0x42) slot->csr_cause = value, slot->has_cause = true;
    if ((index & ~UINT64_C(0x300)) == 0x43) slot->csr_tval = value;
    return NTR_OK;
}

static ntr_status take_register(ntr_core_log *log, rvvi_cursor *c, rvvi_slot *slot) {
    (void)slot;
    return ignore(log, c, "register", 2);
}

static ntr_status take_net(ntr_core_log *log, rvvi_cursor *c, rvvi_slot *slot) {
    (void)slot;
    return ignore(log, c, "NET", 2);
}

static ntr_status take_mode(ntr_core_log *log, rvvi_cursor *c, rvvi_slot *slot) {
    uint64_t mode = 0;
    ntr_status status = hex(log, c, "MODE", &mode);
    if (status == NTR_OK && (mode > NTR_PRIV_M || mode == 2))
        status = ntr_core_log_refuse(log, "MODE: expected 0, 1 or 3, found %" PRIu64, mode);
    if (status == NTR_OK && slot) slot->mode = (uint8_t)mode;
    return status;
}

static ntr_status take_flag(ntr_core_log *log, rvvi_cursor *c, const char *key, uint8_t *flag) {
    uint64_t value = 0;
    ntr_status status = hex(log, c, key, &value);
    if (status == NTR_OK && value > 1)
        status = ntr_core_log_refuse(log, "%s: expected 0 or 1, found %" PRIu64, key, value);
    if (status == NTR_OK && flag) *flag = (uint8_t)value;
    return status;
}

static ntr_status take_virt(ntr_core_log *log, rvvi_cursor *c, rvvi_slot *slot) {
    return take_flag(log, c, "VIRT", slot ? &slot->virt : NULL);
}

static ntr_status take_debug(ntr_core_log *log, rvvi_cursor *c, rvvi_slot *slot) {
    return take_flag(log, c, "DM", slot ? &slot->debug : NULL);
}

static ntr_status take_cycle(ntr_core_log *log, rvvi_cursor *c, rvvi_slot *slot) {
    uint64_t cycles = 0;
    (void)slot;
    ntr_status status = number(log, c, "CYCLE", &cycles);
    if (status == NTR_OK && log->rvvi.cycle + cycles < cycles)
        status = ntr_core_log_refuse(log, "CYCLE: the sum has more than 64 bits");
    log->rvvi.cycle += status == NTR_OK ? cycles : 0;
    log->rvvi.has_cycle = true;
    return status;
}

static ntr_status take_time(ntr_core_log *log, rvvi_cursor *c, rvvi_slot *slot) {
    (void)slot;
    return ignore(log, c, "TIME", 1);
}

/* "META 2 interrupt EPC" and "META 1 gap", of our own exporter, stand behind the instruction that comes after them. */
static ntr_status take_meta(ntr_core_log *log, rvvi_cursor *c, rvvi_slot *slot) {
    uint64_t count = 0, epc = 0;
    rvvi_token name = {NULL, 0};
    ntr_status status = number(log, c, "META", &count);
    if (status == NTR_OK && count) status = value_of(log, c, "META", &name), count--;
    if (status == NTR_OK && log->rvvi.ours && slot && is(name, "gap"))
        return ntr_core_log_refuse(log, "instructions before this one are missing (gap): encode the parts");
    if (status == NTR_OK && log->rvvi.ours && count == 1 && is(name, "interrupt")) {
        status = hex(log, c, "META", &epc);
        if (status != NTR_OK || !slot) return status;
        slot->record.handler = true;
        slot->record.epc = epc;
        return NTR_OK;
    }
    return status == NTR_OK ? ignore(log, c, "META", count) : status;
}

static const struct rvvi_element {
    const char *key;
    ntr_status (*take)(ntr_core_log *log, rvvi_cursor *c, rvvi_slot *slot); /* NULL: an element of another hart */
} elements[] = {
    {"RET", take_ret},       {"X", take_register},    {"F", take_register},      {"V", take_register},
    {"C", take_csr},         {"TRAP", take_trap},     {"MODE", take_mode},       {"HART", take_hart},
    {"ORDER", take_order},   {"ISSUE", take_issue},   {"VIRT", take_virt},       {"DM", take_debug},
    {"NET", take_net},       {"META", take_meta},     {"CYCLE", take_cycle},     {"TIME", take_time},
    {"PARAMS", take_params}, {"VENDOR", take_vendor}, {"VERSION", take_version},
};

static ntr_status take_element(ntr_core_log *log, rvvi_cursor *c, rvvi_token key) {
    rvvi_reader *r = &log->rvvi;
    ntr_status status;
    if (!r->started && !is(key, "VERSION"))
        return ntr_core_log_refuse(log, "expected VERSION, the first element of RVVI-TEXT");
    for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++) {
        if (!is(key, elements[i].key)) continue;
        status = elements[i].take(log, c, r->now == log->hart ? &r->slots[r->slot] : NULL);
        r->started = true;
        return status;
    }
    return ntr_core_log_refuse(log, "expected an element of RVVI-TEXT (RET, TRAP, X, ...), found another word");
}

/* ---- the end of a line */

static uint8_t privilege(const rvvi_slot *s) {
    if (s->debug) return NTR_PRIV_D;
    if (s->mode == CORE_PRIV_UNKNOWN || !s->virt) return s->mode;
    return s->mode == NTR_PRIV_U ? NTR_PRIV_VU : NTR_PRIV_VS;
}

static bool writes_cause(const rvvi_slot *s) {
    return (s->record.insn & 0x7f) == 0x73 && (s->record.insn >> 20 & 0xcff) == 0x042;
}

static void complete(ntr_core_log *log, rvvi_slot *s) {
    const uint64_t bit = UINT64_C(1) << (log->xlen == 32 ? 31 : 63);
    const bool interrupt = s->has_cause && (s->csr_cause & bit) != 0;
    core_record *r = &s->record;
    r->priv = privilege(s);
    r->cycle = log->rvvi.cycle;
    r->has_cycle = log->rvvi.has_cycle;
    r->cause = s->csr_cause;
    r->tval = s->csr_tval;
    if (r->trap) {
        r->interrupt = interrupt;
    } else if (interrupt && !writes_cause(s)) {
        r->handler = true;
        if (s->has_epc) r->epc = s->csr_epc;
    }
}

static rvvi_slot *first_of(rvvi_reader *r) {
    rvvi_slot *first = NULL;
    for (rvvi_slot *s = r->slots; s < r->slots + r->used; s++)
        if (s->valid && (!first || s->record.order < first->record.order)) first = s;
    return first;
}

static ntr_status end_line(ntr_core_log *log) {
    rvvi_reader *r = &log->rvvi;
    ntr_status status = NTR_OK;
    if (!log->xlen && first_of(r)) return ntr_core_log_refuse(log, "expected PARAMS with XLEN before; --xlen gives it");
    for (rvvi_slot *s; status == NTR_OK && (s = first_of(r)); s->valid = false) {
        complete(log, s);
        r->order = s->record.order + 1; /* unless the next line has ORDER */
        status = ntr_core_log_take(log, &s->record);
    }
    for (rvvi_slot *s = r->slots; s < r->slots + r->used; s++) {
        s->record = (core_record){.epc = NTR_ADDRESS_UNKNOWN};
        s->has_cause = s->has_epc = false;
    }
    r->slot = 0;
    r->used = 1;
    r->taken = false;
    return status;
}

ntr_status ntr_rvvi_text_line(ntr_core_log *log, const char *line, const char *end) {
    rvvi_cursor c = {line, end};
    rvvi_token key;
    ntr_status status;
    while ((status = next(log, &c, &key)) == NTR_OK) {
        if (is(key, "\\")) return NTR_OK; /* the next line continues this one */
        status = take_element(log, &c, key);
        if (status != NTR_OK) return status;
    }
    return status == NTR_END ? end_line(log) : status;
}

#include "parse.h"
#include <string.h>

enum { END_FIELD = 1, RESERVED = 2, END_MESSAGE = 3 }; /* MSEO: bits 1:0 of a byte */
#define mseo(byte) ((byte) & 3u)
#define IDLE       0xff

/* The fields after TCODE and SRC, by letter, in the order of section 3. A capital letter is sent on a
 * condition only. */
static const char *const layout[64] = {
    [2] = "p",      /* Ownership: PROCESS */
    [3] = "i",      /* DirectBranch: I-CNT */
    [4] = "biu",    /* IndirectBranch: B-TYPE I-CNT U-ADDR */
    [8] = "eE",     /* Error: ETYPE ECODE */
    [9] = "sif",    /* ProgTraceSync: SYNC I-CNT F-ADDR */
    [11] = "sif",   /* DirectBranchSync */
    [12] = "sbif",  /* IndirectBranchSync */
    [27] = "rdD",   /* ResourceFull: RCODE RDATA0 RDATA1 */
    [28] = "biuh",  /* IndirectBranchHist: ... HIST */
    [29] = "sbifh", /* IndirectBranchHistSync */
    [30] = "n",     /* RepeatBranch: B-CNT */
    [33] = "vxiH",  /* ProgTraceCorrelation: EVCODE CDF I-CNT HIST */
    [34] = "kly",   /* ICT: CKSRC CKDF CKDATA0 (SiFive; CKDATA1 is of no use here) */
    [35] = "kly",   /* ICT-WS */
};

/* Data trace (section 5 of the dialects): DSZ ELSZ DADDR DDATA. */
static bool is_data(const ntr_params *params, unsigned tcode) {
    bool sent = params->dialect && params->dialect->messages & NTR_MESSAGES_DATA;
    return sent && (tcode == 5 || tcode == 6 || tcode == 13 || tcode == 14);
}

/* The layouts of section 12 of the dialects, and of section 6.7. */
static const char *layout_of(const ntr_params *params, unsigned tcode) {
    unsigned messages = params->dialect ? params->dialect->messages : 0;
    if (messages & NTR_MESSAGES_CTTE && tcode == 56) return "n"; /* BranchPredict: B-CNT */
    if (messages & NTR_MESSAGES_CTTE && tcode == 31) return "qih"; /* RepeatInstruction: RCNT I-CNT HIST */
    if (messages & NTR_MESSAGES_CTTE && tcode == 32)
        return "sqifh"; /* RepeatInstructionSync: SYNC RCNT I-CNT F-ADDR HIST */
    if (messages & NTR_MESSAGES_CTTE && tcode == 57) return "bijh"; /* JumpTargetCache: B-TYPE I-CNT JIDX HIST */
    if (messages & NTR_MESSAGES_TTDFD && tcode == 56) return "wz"; /* TrapValue: VTYPE TVAL */
    if (is_data(params, tcode)) return "gmao";
    return layout[tcode];
}

static const unsigned char fixed_width[128] = {
    ['s'] = 4, ['b'] = 2, ['e'] = 4, ['r'] = 4, ['v'] = 4, ['x'] = 2,
    ['k'] = 4, ['l'] = 2, ['w'] = 2, ['g'] = 4, ['m'] = 3,
};

/* Where we are inside one message, whose bytes are [at, end). */
typedef struct cursor {
    const uint8_t *at, *end;
    unsigned used; /* MDO bits of *at taken */
    ntr_status defect;
} cursor;

/* Make sure *at has a bit to give to a field that has not ended. */
static bool more(cursor *c) {
    if (c->at < c->end && c->used == 6) {
        if (mseo(*c->at) != 0) {
            c->defect = mseo(*c->at) == END_MESSAGE ? NTR_E_FIELD_MISSING : NTR_E_FIELD_SPLIT;
            return false;
        }
        c->at++;
        c->used = 0;
    }
    if (c->at == c->end) {
        c->defect = NTR_E_FIELD_MISSING;
        return false;
    }
    return true;
}

static uint64_t take_fixed(cursor *c, unsigned bits) {
    uint64_t value = 0;
    for (unsigned i = 0; i < bits && more(c); i++) value |= (uint64_t)(*c->at >> (2 + c->used++) & 1u) << i;
    return value;
}

/* A variable field ends with the first byte whose MSEO is not 0. `*width`: bits sent. `*top`: the last one. */
static uint64_t take_variable(cursor *c, unsigned *width, bool *top) {
    uint64_t value = 0;
    *width = 0;
    if (!more(c)) return 0;
    do {
        *top = *c->at >> (2 + c->used++) & 1u;
        if (*width < 64)
            value |= (uint64_t)*top << *width;
        else if (*top)
            c->defect = NTR_E_FIELD_LONG;
        ++*width;
    } while ((c->used < 6 || mseo(*c->at) == 0) && more(c));
    c->used = 0;
    c->at++;
    return value;
}

static bool wanted(const oracle_message *m, unsigned letter) {
    return letter == 'D' ? m->field['r'] == 2 : letter == 'H' ? m->field['x'] == 1 : true;
}

/* An address field stands for bits 1.. of an address; section 7.1. */
static uint64_t address(const ntr_params *params, uint64_t value, unsigned width, bool top) {
    if (params->extend_addr && top && width < 63) value |= ~UINT64_C(0) << width;
    return value << 1;
}

static void take_fields(const ntr_params *params, cursor *c, oracle_message *m) {
    unsigned width = 0;
    bool top = false;
    const char *letters = layout_of(params, m->tcode);
    bool may_be_empty = params->dialect && params->dialect->empty_icnt;
    for (const char *letter = letters; letter && *letter && !c->defect; letter++) {
        unsigned l = (unsigned char)*letter;
        if (!wanted(m, l) || (l == 'E' && c->at == c->end)) continue;
        if (l == 'i' && may_be_empty && c->used == 6 && mseo(*c->at) == END_FIELD) { /* I-CNT 0 has no byte */
            c->at++;
            c->used = 0;
        } else if (fixed_width[l])
            m->field[l] = take_fixed(c, fixed_width[l]);
        else
            m->field[l] = take_variable(c, &width, &top);
        m->has[l] = true;
        if (l == 'u' || l == 'f' || l == 'y') m->field[l] = address(params, m->field[l], width, top);
    }
    if (letters && !c->defect && c->at < c->end) {
        m->field['t'] = take_variable(c, &width, &top);
        m->has['t'] = params->timestamps != NTR_TIMESTAMPS_OFF;
    }
}

/* Values that make a message impossible to understand. */
static ntr_status check(const oracle_message *m) {
    bool hist = m->has['h'] || m->has['H'];
    bool resource_hist = m->tcode == 27 && (m->field['r'] == 1 || m->field['r'] == 2);
    if ((hist && (m->field['h'] | m->field['H']) == 0) || (resource_hist && m->field['d'] == 0))
        return NTR_E_HIST_STOP_BIT;
    if (m->field['x'] > 1 || (m->has['D'] && m->field['D'] == 0)) return NTR_E_FIELD_VALUE;
    if ((m->has['D'] && m->field['D'] >> 18) || (m->has['n'] && m->field['n'] >> 18)) return NTR_E_LIMIT;
    return NTR_OK;
}

/* The bytes of a message up to and including MSEO 11, or of something that is none. */
static ntr_status find_end(ntr_bytes stream, size_t *at) {
    ntr_status status = mseo(stream.data[*at]) == 0 ? NTR_OK : NTR_E_IDLE;
    for (; *at < stream.size; ++*at) {
        if (mseo(stream.data[*at]) == RESERVED && !status) status = NTR_E_MSEO_RESERVED;
        if (mseo(stream.data[*at]) == END_MESSAGE) {
            ++*at;
            return status;
        }
    }
    return NTR_E_TRUNCATED;
}

bool oracle_parse(const ntr_params *params, ntr_bytes stream, size_t *at, oracle_message *m) {
    bool zero_idle = params->dialect && params->dialect->zero_idle;
    bool any_end = params->dialect && params->dialect->any_end_idle;
    memset(m, 0, sizeof *m);
    while (*at < stream.size && ((any_end && mseo(stream.data[*at]) == END_MESSAGE) || stream.data[*at] == IDLE ||
                                 (zero_idle && stream.data[*at] == 0)))
        ++*at;
    if (*at == stream.size) return false;
    m->offset = *at;
    m->defect = find_end(stream, at);
    if (m->defect) return true;
    cursor c = {stream.data + m->offset, stream.data + *at, 0, NTR_OK};
    m->tcode = (unsigned)take_fixed(&c, 6);
    m->src = (unsigned)take_fixed(&c, params->src_bits);
    if (!c.defect) take_fields(params, &c, m);
    if (c.defect == NTR_E_FIELD_LONG) c.defect = NTR_OK; /* the low 64 bits are kept (OQ-20) */
    m->defect = c.defect ? c.defect : check(m);
    return true;
}

#include "infer/scan.h"

#include "message/sets.h"
#include "message/values.h"
#include "trace/ownership.h"
#include "wire/mdo.h"

#include <ntrace/params.h>
#include <ntrace/reader.h>

#include <string.h>

enum { ICNT_BITS = 22, PRV_RESERVED = 2 };

/* The state of each source. */
typedef struct source_memory {
    bool started[NTR_SOURCES_MAX], stepped[NTR_SOURCES_MAX];
    uint64_t sum[NTR_SOURCES_MAX], xor[NTR_SOURCES_MAX], last[NTR_SOURCES_MAX]; /* time by each rule; 0: none */
} source_memory;

static inline bool is_unusual_value(unsigned field, uint64_t value) {
    return ntr_value_flags(NTR_MESSAGES_ANY, field, value) & (NTR_VALUE_RESERVED | NTR_VALUE_UNSEEN);
}

static bool is_unusual_process(uint64_t process) {
    const ntr_params params = {0};
    ntr_context context = {0};
    return !ntr_ownership_follow(&params, &context, process) || context.prv == PRV_RESERVED;
}

static bool is_run(const ntr_message *m) {
    return NTR_HAS(m, RCODE) && ntr_value_flags(NTR_MESSAGES_ANY, NTR_FIELD_RCODE, m->rcode) & NTR_VALUE_RUN;
}

/* Returns whether the message has a value that no known encoder sends. */
static bool is_unusual(const ntr_message *m) {
    if (NTR_HAS(m, SYNC) && is_unusual_value(NTR_FIELD_SYNC, m->sync)) return true;
    if (NTR_HAS(m, RCODE) && is_unusual_value(NTR_FIELD_RCODE, m->rcode)) return true;
    if (NTR_HAS(m, EVCODE) && is_unusual_value(NTR_FIELD_EVCODE, m->evcode)) return true;
    if (NTR_HAS(m, ETYPE) && is_unusual_value(NTR_FIELD_ETYPE, m->etype)) return true;
    if (NTR_HAS(m, PROCESS)) return is_unusual_process(m->process);
    if (NTR_HAS(m, BCNT)) return m->bcnt == 0;
    if (NTR_HAS(m, RDATA0)) return m->rdata0 == 0;
    return m->tcode == NTR_TCODE_PROG_TRACE_SYNC && m->icnt && ntr_sync_flags(m) & NTR_VALUE_RESTARTS;
}

static void scan_address(const ntr_message *m, ntr_field field, ntr_scan *scan) {
    uint64_t value = m->value[field];
    unsigned width = m->width[field];
    if (width > NTR_MDO_BITS && width <= 64 && value >> (width - NTR_MDO_BITS) == 0 &&
        value >> (width - NTR_MDO_BITS - 1))
        scan->closed_signs++;
    else if (width && width <= 64 && value >> (width - 1))
        scan->open_signs++;
    if (field != NTR_FIELD_FADDR) return;
    scan->fixed_48 += value >> 46 == 1; /* bit 47 of the address (bit 46 of the field) is the highest bit set */
    scan->high_addresses += value >> 31 != 0;
}

static void add_wrap(ntr_scan *scan, uint64_t before, uint64_t after) {
    if (!scan->wraps++ || before < scan->before_wraps) scan->before_wraps = before;
    if (after > scan->after_wraps) scan->after_wraps = after;
}

static void scan_time(const ntr_message *m, unsigned src, source_memory *seen, ntr_scan *scan) {
    bool sync = ntr_has_role(m->tcode, NTR_ROLE_SYNC), stamped = NTR_HAS(m, TSTAMP);
    *(sync ? &scan->syncs : &scan->others) += 1;
    if (!stamped) {
        if (sync) seen->sum[src] = seen->xor [src] = 0;
        return;
    }
    *(sync ? &scan->stamped_syncs : &scan->stamped_others) += 1;
    if (sync) {
        scan->summed_syncs += seen->stepped[src];
        scan->backward_sums += m->tstamp < seen->sum[src];
        if (m->tstamp < seen->sum[src] && !(ntr_sync_flags(m) & NTR_VALUE_RESETS))
            add_wrap(scan, seen->sum[src], m->tstamp);
        if (m->tstamp > scan->latest) scan->latest = m->tstamp;
        scan->backward_absolutes += m->tstamp < seen->last[src];
        seen->sum[src] = seen->xor [src] = seen->last[src] = m->tstamp;
        seen->stepped[src] = false;
    } else if (seen->sum[src] && m->tstamp) {
        uint64_t next = seen->xor [src] ^ m->tstamp;
        scan->steps++;
        scan->backward_xors += next < seen->xor [src];
        seen->xor [src] = next;
        seen->sum[src] += m->tstamp;
        scan->backward_absolutes += m->tstamp < seen->last[src];
        seen->last[src] = m->tstamp;
        seen->stepped[src] = true;
    }
}

/* Returns whether a dialect that has `own` besides the messages of N-Trace 1.0 explains something of this message. */
static bool is_own(const ntr_message *m, unsigned own) {
    static const uint8_t fields[] = {NTR_FIELD_SYNC, NTR_FIELD_EVCODE, NTR_FIELD_ETYPE, NTR_FIELD_RCODE};
    if (ntr_tcode_in(ntr_tcodes_of_dialects(own), m->tcode)) return true;
    for (size_t i = 0; i < sizeof fields; i++)
        if (m->present >> fields[i] & 1 && ntr_value_flags(own, fields[i], m->value[fields[i]]) != NTR_VALUE_RESERVED)
            return true;
    return false;
}

static void scan_frames(const ntr_message *m, ntr_scan *scan) {
    for (unsigned i = 0; i < NTR_FRAME_SIZES && m->size; i++) {
        uint64_t frame = (uint64_t)NTR_FRAME_UNIT * (i + 1);
        if (m->offset / frame != (m->offset + m->size - 1) / frame) scan->crossed |= (uint16_t)(1u << i);
    }
}

static void scan_message(const ntr_message *m, source_memory *seen, ntr_scan *scan) {
    unsigned src = NTR_HAS(m, SRC) ? (unsigned)(m->src % NTR_SOURCES_MAX) : 0;
    scan->tcode[m->tcode & 63]++;
    seen->started[src] |= ntr_tcode_in(ntr_tcodes_with(NTR_FLAG_ABSOLUTE), m->tcode);
    scan->unusual += is_unusual(m) || (ntr_tcode_in(ntr_tcodes_of_flow(), m->tcode) && !seen->started[src]);
    scan->counts_of_runs += is_run(m);
    scan->contexts_0 += NTR_HAS(m, PROCESS) && ntr_ownership_format(m->process) == NTR_FORMAT_PRIVILEGE &&
                        m->process >> NTR_PROCESS_CONTEXT;
    scan->history += NTR_HAS(m, HIST) || (NTR_HAS(m, RCODE) && m->rcode != NTR_RCODE_ICNT);
    scan->stop_without_history += NTR_HAS(m, CDF) && m->cdf == NTR_CDF_ICNT;
    scan->wide_icnt += NTR_HAS(m, ICNT) && m->icnt >> ICNT_BITS != 0;
    if (NTR_HAS(m, FADDR)) scan_address(m, NTR_FIELD_FADDR, scan);
    if (NTR_HAS(m, UADDR)) scan_address(m, NTR_FIELD_UADDR, scan);
    scan_time(m, src, seen, scan);
}

uint64_t ntr_scan_count(const ntr_scan *scan, uint64_t tcodes) {
    uint64_t count = 0;
    for (; tcodes; tcodes &= tcodes - 1) count += scan->tcode[__builtin_ctzll(tcodes)];
    return count;
}

enum { LEAD_MOST = 12 };

/* The bits between TCODE and the end of the first field of variable length. Returns how many there are, up to 12. */
static unsigned lead_of(const ntr_message *m, unsigned *lead) {
    enum { GROUPS = LEAD_MOST / NTR_MDO_BITS, ENDS = (1 << NTR_MSEO_BITS) - 1 };
    unsigned groups = 0;

    *lead = 0;
    for (size_t i = 1; i < m->raw.size && groups < GROUPS && !(m->raw.data[i - 1] & ENDS); i++)
        *lead |= (unsigned)(m->raw.data[i] >> NTR_MSEO_BITS) << NTR_MDO_BITS * groups++;
    return groups * NTR_MDO_BITS;
}

/* What the 12 bits behind TCODE are in the messages. */
struct leads {
    uint32_t count[1 << LEAD_MOST];
    uint64_t kinds[1 << LEAD_MOST]; /* set of the TCODEs of the messages that have the value */
    uint64_t all_kinds;
    unsigned messages, first, differ;
};

static void add_lead(struct leads *l, const ntr_message *m) {
    unsigned lead;

    l->differ |= 1u << lead_of(m, &lead);
    if (!l->messages++) l->first = lead;
    l->differ |= l->first ^ lead;
    l->count[lead]++;
    l->kinds[lead] |= UINT64_C(1) << (m->tcode & 63);
    l->all_kinds |= UINT64_C(1) << (m->tcode & 63);
}

/* Returns whether the values are those of SRC of several harts: nearly all messages have one that several kinds have.
 */
static bool are_sources(const struct leads *l) {
    enum { KINDS_OF_ONE = 3, DAMAGED_OF = 64 /* one in so many messages may be damage */ };
    unsigned others = l->messages;

    for (unsigned lead = 0; lead < 1u << LEAD_MOST; lead++)
        if (__builtin_popcountll(l->kinds[lead]) >= KINDS_OF_ONE) others -= l->count[lead];
    return others <= l->messages / DAMAGED_OF;
}

static unsigned judge_leads(const struct leads *l) {
    enum { LEAST_KINDS = 3, SURE_KINDS = 4, LEAST_MESSAGES = 4, SURE_MESSAGES = 8, MANY_MESSAGES = 64 };
    const int found = __builtin_popcountll(l->all_kinds);
    const unsigned bits = (unsigned)__builtin_ctz(l->differ);

    if (found < LEAST_KINDS || l->messages < LEAST_MESSAGES) return 0;
    if (bits == LEAD_MOST) return found >= SURE_KINDS || l->messages >= SURE_MESSAGES ? bits : 0;
    if (found < SURE_KINDS || l->messages < MANY_MESSAGES) return 0;
    return are_sources(l) ? LEAD_MOST : bits;
}

unsigned ntr_scan_same_bits(ntr_bytes stream, bool mid_stream) {
    struct leads leads;
    ntr_params params;
    ntr_reader reader;
    ntr_message m;

    memset(&leads, 0, sizeof leads);
    leads.differ = 1u << LEAD_MOST;
    ntr_params_init(&params, NULL);
    if (ntr_reader_init(&reader, &params) != NTR_OK) return 0;
    if (mid_stream) ntr_reader_seek_start(&reader);
    ntr_reader_feed(&reader, stream.data, stream.size, false);
    while (ntr_reader_next(&reader, &m) == NTR_OK)
        if (m.tcode != NTR_TCODE_NONE && m.size == m.raw.size) add_lead(&leads, &m);
    return judge_leads(&leads);
}

void ntr_scan_stream(const ntr_params *params, ntr_bytes stream, bool mid_stream, ntr_scan *scan) {
    ntr_reader reader;
    ntr_message message;
    source_memory seen;
    memset(&seen, 0, sizeof seen);
    memset(scan, 0, sizeof *scan);
    if (ntr_reader_init(&reader, params) != NTR_OK) return;
    if (mid_stream) ntr_reader_seek_start(&reader);
    ntr_reader_feed(&reader, stream.data, stream.size, false);
    const unsigned own = params->dialect ? params->dialect->messages & ~(unsigned)NTR_MESSAGES_1_0 : 0;
    while (ntr_reader_next(&reader, &message) == NTR_OK) {
        scan->messages++;
        scan_frames(&message, scan);
        scan->own += message.defect == NTR_OK && is_own(&message, own);
        if (message.defect != NTR_OK)
            scan->defects++;
        else
            scan_message(&message, &seen, scan);
    }
    scan->strays = reader.framer.strays;
}

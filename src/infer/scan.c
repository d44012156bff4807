#include "infer/scan.h"

#include <ntrace/reader.h>

#include <string.h>

enum { SOURCES = 4096, ICNT_BITS = 22, MDO_BITS = 6 };

/* What has to be remembered of each source. */
typedef struct memory {
    bool started[SOURCES], stepped[SOURCES];
    uint64_t sum[SOURCES], xor[SOURCES]; /* times, by both rules; 0: none */
} memory;

static bool is_flow(unsigned tcode) {
    return tcode == NTR_TCODE_DIRECT_BRANCH || tcode == NTR_TCODE_INDIRECT_BRANCH || tcode == NTR_TCODE_RESOURCE_FULL ||
           tcode == NTR_TCODE_INDIRECT_BRANCH_HIST || tcode == NTR_TCODE_REPEAT_BRANCH;
}

static bool starts_trace(uint64_t sync) {
    return sync == 1 || sync == 3 || sync == 5 || sync == 7 || sync == 9;
}

/* Values that no encoder is known to send. */
static bool is_odd(const ntr_message *m) {
    switch (m->tcode) {
    case NTR_TCODE_PROG_TRACE_SYNC: return (starts_trace(m->sync) && m->icnt != 0) || m->sync == 8 || m->sync > 11;
    case NTR_TCODE_DIRECT_BRANCH_SYNC:
    case NTR_TCODE_INDIRECT_BRANCH_SYNC:
    case NTR_TCODE_INDIRECT_BRANCH_HIST_SYNC: return m->sync == 8 || m->sync > 11;
    case NTR_TCODE_RESOURCE_FULL: return (m->rcode > 2 && m->rcode != 8 && m->rcode != 9) || m->rdata0 == 0;
    case NTR_TCODE_PROG_TRACE_CORRELATION: return m->evcode == 2 || m->evcode == 3 || (m->evcode > 4 && m->evcode < 8);
    case NTR_TCODE_OWNERSHIP: return (m->process & 3) == 1 || (m->process >> 2 & 3) == 2;
    case NTR_TCODE_ERROR: return m->etype > 0 && m->etype < 8;
    case NTR_TCODE_REPEAT_BRANCH: return m->bcnt == 0;
    default: return false;
    }
}

static void look_at_address(const ntr_message *m, ntr_field field, ntr_scan *scan) {
    uint64_t value = m->value[field];
    unsigned width = m->width[field];
    if (width > MDO_BITS && width <= 64 && value >> (width - MDO_BITS) == 0 && value >> (width - MDO_BITS - 1))
        scan->closed_signs++;
    else if (width && width <= 64 && value >> (width - 1))
        scan->open_signs++;
    if (field != NTR_FIELD_FADDR) return;
    scan->fixed_48 += value >> 46 == 1; /* bit 47 of the address is the last one set */
    scan->high_addresses += value >> 31 != 0;
}

static void look_at_time(const ntr_message *m, unsigned src, memory *seen, ntr_scan *scan) {
    bool sync = ntr_tcode_is_sync(m->tcode), stamped = NTR_HAS(m, TSTAMP);
    *(sync ? &scan->syncs : &scan->others) += 1;
    if (!stamped) {
        if (sync) seen->sum[src] = seen->xor[src] = 0;
        return;
    }
    *(sync ? &scan->stamped_syncs : &scan->stamped_others) += 1;
    if (sync) {
        scan->summed_syncs += seen->stepped[src];
        scan->backward_sums += m->tstamp < seen->sum[src];
        if (m->tstamp > scan->latest) scan->latest = m->tstamp;
        seen->sum[src] = seen->xor[src] = m->tstamp;
        seen->stepped[src] = false;
    } else if (seen->sum[src] && m->tstamp) {
        uint64_t next = seen->xor[src] ^ m->tstamp;
        scan->steps++;
        scan->backward_xors += next < seen->xor[src];
        seen->xor[src] = next;
        seen->sum[src] += m->tstamp;
        seen->stepped[src] = true;
    }
}

static void look_at(const ntr_message *m, memory *seen, ntr_scan *scan) {
    unsigned src = NTR_HAS(m, SRC) ? (unsigned)(m->src % SOURCES) : 0;
    scan->tcode[m->tcode & 63]++;
    bool sync = ntr_tcode_is_sync(m->tcode);
    seen->started[src] |= sync || m->tcode == NTR_TCODE_ICT_WS;
    scan->odd += is_odd(m) || (is_flow(m->tcode) && !seen->started[src]);
    scan->counts_of_runs += m->tcode == NTR_TCODE_RESOURCE_FULL && m->rcode >= 8;
    scan->history += NTR_HAS(m, HIST) || (m->tcode == NTR_TCODE_RESOURCE_FULL && m->rcode != 0);
    scan->stop_without_history += m->tcode == NTR_TCODE_PROG_TRACE_CORRELATION && m->cdf == 0;
    scan->wide_icnt += NTR_HAS(m, ICNT) && m->icnt >> ICNT_BITS != 0;
    if (NTR_HAS(m, FADDR)) look_at_address(m, NTR_FIELD_FADDR, scan);
    if (NTR_HAS(m, UADDR)) look_at_address(m, NTR_FIELD_UADDR, scan);
    look_at_time(m, src, seen, scan);
}

void ntr_scan_stream(const ntr_params *params, ntr_bytes stream, bool mid_stream, ntr_scan *scan) {
    ntr_reader reader;
    ntr_message message;
    memory seen;
    memset(&seen, 0, sizeof seen);
    memset(scan, 0, sizeof *scan);
    if (ntr_reader_init(&reader, params) != NTR_OK) return;
    if (mid_stream) ntr_reader_seek_start(&reader);
    ntr_reader_feed(&reader, stream.data, stream.size, false);
    while (ntr_reader_next(&reader, &message) == NTR_OK) {
        scan->messages++;
        if (message.defect != NTR_OK)
            scan->defects++;
        else
            look_at(&message, &seen, scan);
    }
}

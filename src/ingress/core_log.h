/* State of a reader of core logs, shared by the forms of text (rvvi_text.c, rvfi_text.c). */
#ifndef NTR_INGRESS_CORE_LOG_H
#define NTR_INGRESS_CORE_LOG_H

#include "ingress/logged.h"

#include <ntrace/ingress.h>

/* Most instructions that one line of RVVI-TEXT can hold for a hart. */
enum { CORE_SLOTS = 64, CORE_COLUMNS = 128 };

/* One instruction that retired or trapped. */
typedef struct core_record {
    uint64_t pc, insn, order;
    uint64_t epc;   /* where the interrupt came, if `handler`; NTR_ADDRESS_UNKNOWN */
    uint64_t cause, tval;
    uint64_t cycle; /* with has_cycle */
    uint8_t priv;   /* ntr_priv, or CORE_PRIV_UNKNOWN */
    bool trap;      /* it did not retire */
    bool interrupt; /* with `trap`: an interrupt came in place of the instruction */
    bool handler;   /* the first instruction after an interrupt, or after the trap of the record before */
    bool has_order, has_cycle;
} core_record;

enum { CORE_PRIV_UNKNOWN = 0xff };

/* What a slot of RVVI-TEXT holds: the record of this line, and what stays until it is written again. */
typedef struct rvvi_slot {
    core_record record;
    uint64_t csr_cause, csr_epc, csr_tval;
    bool valid, has_cause, has_epc;
    uint8_t mode, virt, debug;
} rvvi_slot;

typedef struct rvvi_reader {
    rvvi_slot slots[CORE_SLOTS];
    unsigned slot, used; /* the present one; those of this line */
    bool started; /* an element was read */
    bool taken;   /* this line has an instruction in the slot */
    bool ours;    /* VENDOR is this project */
    uint64_t now; /* hart of the elements that follow */
    uint64_t order, cycle;
    bool has_cycle;
} rvvi_reader;

typedef enum rvfi_form { RVFI_UNKNOWN, RVFI_COMMAS, RVFI_TABS, RVFI_BLANKS, RVFI_CVA6 } rvfi_form;

typedef struct rvfi_reader {
    rvfi_form form;
    uint8_t columns[CORE_COLUMNS]; /* rvfi_column of each */
    unsigned count;
    uint64_t next;       /* rvfi_pc_wdata of the record before, or NTR_ADDRESS_UNKNOWN */
    core_record waiting; /* CVA6: an instruction whose privilege the next line has */
    bool waits;
} rvfi_reader;

struct ntr_core_log {
    ntr_classifier *classifier;
    const ntr_allocator *allocator;
    ntr_core_log_format format;
    unsigned hart, xlen;
    ntr_logged_width width;
    uint64_t line, count;
    ntr_hart_state state;
    bool trapped;    /* the record before was a trap: what follows is its handler */
    uint8_t flow;    /* of the last instruction that retired; NTR_FLOW_LINEAR at first */
    uint64_t order;  /* of the last record, with `ordered` */
    bool ordered;
    rvvi_reader rvvi;
    rvfi_reader rvfi;
    char error[200];
};

/* Reports a damaged line. */
ntr_status ntr_core_log_refuse(ntr_core_log *log, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Enters a record into the classifier. */
ntr_status ntr_core_log_take(ntr_core_log *log, core_record *record);

/* Read one line without its end, and the end of the text. */
ntr_status ntr_rvvi_text_line(ntr_core_log *log, const char *line, const char *end);
ntr_status ntr_rvfi_text_line(ntr_core_log *log, const char *line, const char *end);
ntr_status ntr_rvfi_text_end(ntr_core_log *log);

#endif

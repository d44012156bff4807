/* The dialects. Each has a constant and a line in the table of dialect.c. */
#ifndef NTR_DIALECT_DIALECTS_H
#define NTR_DIALECT_DIALECTS_H

#include <ntrace/dialect.h>

extern const ntr_dialect ntr_dialect_ntrace_1_0;
extern const ntr_dialect ntr_dialect_sifive;
extern const ntr_dialect ntr_dialect_p550;
extern const ntr_dialect ntr_dialect_refcode;
extern const ntr_dialect ntr_dialect_nexus_data;
extern const ntr_dialect ntr_dialect_tt_dfd;
extern const ntr_dialect ntr_dialect_andes;
extern const ntr_dialect ntr_dialect_xuantie;
extern const ntr_dialect ntr_dialect_microblaze_v;
extern const ntr_dialect ntr_dialect_ctte;

#endif

/* The list of program counters of a classifier. See pc_list.c. */
#ifndef NTR_INGRESS_PC_LIST_H
#define NTR_INGRESS_PC_LIST_H

#include "ingress/classifier.h"

ntr_status ntr_pc_list_new(ntr_classifier *c);
void ntr_pc_list_free(ntr_classifier *c);
ntr_status ntr_pc_list_finish(ntr_classifier *c); /* enters the part of the present block that executed */
void ntr_pc_list_drop(ntr_classifier *c);         /* drops all blocks: the code may have changed */

#endif

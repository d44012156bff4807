/* Special trace IDs of ATB and CoreSight frames. */
#ifndef NTR_TRANSPORT_TRACE_IDS_H
#define NTR_TRANSPORT_TRACE_IDS_H

#include "transport/transports.h"

/* Delivers bytes with trace ID `id`: to the sink for a trace source, as a note for a trigger, a flush or a reserved
 * ID, nowhere for the null ID. *noted is the last reserved ID that was reported. Errors: those of the sink. */
ntr_status trace_id_give(ntr_transport_reader *reader, unsigned *noted, unsigned id, const uint8_t *bytes, size_t size);

#endif

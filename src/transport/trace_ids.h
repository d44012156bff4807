/* What the special trace IDs of ATB and CoreSight frames mean. */
#ifndef NTR_TRANSPORT_TRACE_IDS_H
#define NTR_TRANSPORT_TRACE_IDS_H

#include "transport/transports.h"

/* Bytes of the stream `id`: to the sink, to a note, or nowhere. `*noted` is the reserved ID told last. */
ntr_status trace_id_give(ntr_transport_reader *reader, unsigned *noted, unsigned id, const uint8_t *bytes, size_t size);

#endif

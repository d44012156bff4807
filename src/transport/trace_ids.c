#include "transport/trace_ids.h"

ntr_status trace_id_give(ntr_transport_reader *reader, unsigned *noted, unsigned id, const uint8_t *bytes,
                         size_t size) {
    if (id == NTR_ATB_ID_NULL) return NTR_OK;
    if (id < NTR_ATB_ID_RESERVED) return reader_give(reader, id, bytes, size);
    if (id == NTR_ATB_ID_TRIGGER || id == NTR_ATB_ID_FLUSH) {
        const ntr_note_kind kind = id == NTR_ATB_ID_TRIGGER ? NTR_NOTE_TRIGGER : NTR_NOTE_FLUSH;
        for (size_t i = 0; i < size; i++) reader_note(reader, kind, NTR_OK, reader->position, bytes[i]);
    } else if (*noted != id) { /* one note per ID */
        *noted = id;
        reader_note(reader, NTR_NOTE_ID, NTR_OK, reader->position, id);
    }
    return NTR_OK;
}

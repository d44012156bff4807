/* Data trace. docs/dialects.md section 5.
 *
 * The address of a message is the XOR with that of the message before. After a synchronizing message, and after a loss,
 * the next one has its full address, so that a decoder can begin there. */
#include "encoder/state.h"
#include "message/sets.h"

static bool has_data_messages(const ntr_encoder *e) {
    return e->params.dialect && e->params.dialect->messages & NTR_MESSAGES_DATA;
}

static uint64_t cut(uint64_t value, unsigned bytes) {
    return bytes >= 8 ? value : value & ((UINT64_C(1) << 8 * bytes) - 1);
}

ntr_status ntr_encoder_access(ntr_encoder *e, const ntr_data_record *record) {
    unsigned tcode = record->access == NTR_DATA_WRITE ? NTR_TCODE_DATA_WRITE : NTR_TCODE_DATA_READ;
    uint64_t address = cut(record->address, e->params.xlen / 8);

    if (!has_data_messages(e)) return NTR_E_STATE;
    if (record->bytes > 8 || record->access > NTR_DATA_WRITE) return NTR_E_RANGE;
    if (!e->active) return NTR_OK;
    ntr_message *m = ntr_enc_message(e, e->data_known ? tcode : ntr_sync_form(tcode));
    NTR_SET(m, DSZ, dsz, record->bytes);
    NTR_SET(m, ELSZ, elsz, 0);
    NTR_SET(m, DADDR, daddr, e->data_known ? address ^ e->data_address : address);
    NTR_SET(m, DDATA, ddata, cut(record->data, record->bytes));
    e->data_address = address;
    e->data_known = true; /* unless the message is lost */
    ntr_enc_send(e, m, e->now);
    return ntr_enc_result(e);
}

/* Layout: a message as a row of fields, which fields it has in transmission order, and what each of its bytes holds. */
#ifndef NTRACE_MESSAGE_LAYOUT_H
#define NTRACE_MESSAGE_LAYOUT_H

#include <ntrace/message.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Largest number of fields of a message: SRC, those of its row, TSTAMP. */
#define NTR_FIELDS_MAX (NTR_MESSAGE_FIELDS_MAX + 2)

/* Writes a message as a CSV row (RFC 4180 without its CR): number,offset,size,tcode,name, every field of fields.def,
 * data,defect. `message` NULL: the row of column names. Returns as ntr_message_format. */
NTR_API int ntr_message_format_csv(const ntr_params *params, const ntr_message *message, char *out, size_t capacity);

/* Stores the present fields in transmission order, which is that of fields.def. Returns their number. */
NTR_API size_t ntr_message_list(const ntr_message *message, ntr_field fields[NTR_FIELDS_MAX]);

/* Returns true if a decoded field was sent with more bits (its `width`) than its value needs; with params->extend_addr,
 * with more than the extended address needs. */
NTR_API bool ntr_message_is_padded(const ntr_params *params, const ntr_message *message, ntr_field field);

/* One byte of `raw` of a decoded message. */
typedef struct ntr_message_byte {
    uint8_t mdo, mseo;
    bool tcode; /* TCODE ends in this byte */
    bool data; /* a field of a vendor defined or reserved message ends in this byte */
    ntr_fields ends; /* fields that end in this byte */
} ntr_message_byte;

/* Describes a byte of a decoded message. Errors: NTR_E_RANGE (`index` is past the end of `raw`). */
NTR_API ntr_status ntr_message_byte_at(const ntr_params *params, const ntr_message *message, size_t index,
                                       ntr_message_byte *byte);

#ifdef __cplusplus
}
#endif
#endif

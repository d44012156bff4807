/* Messages: one N-Trace message as a struct, and the two engines between it and its bytes.
 *
 * Both engines, the text form and the documentation read the same tables: fields.def, messages.def and
 * values.def. Nothing here allocates. N-Trace 1.0 sections 2 (framing) and 3 to 6 (messages). */
#ifndef NTRACE_MESSAGE_H
#define NTRACE_MESSAGE_H

#include <ntrace/bytes.h>
#include <ntrace/framer.h>
#include <ntrace/params.h>
#include <ntrace/status.h>
#include <ntrace/values.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ntr_tcode {
#define NTR_MESSAGE(id, tcode, text, set, ...) NTR_TCODE_##id = (tcode),
#include <ntrace/messages.def>
#undef NTR_MESSAGE
    NTR_TCODE_VENDOR_FIRST = 56,
    NTR_TCODE_VENDOR_LAST = 62,
    NTR_TCODE_NONE = 0xff, /* bytes that are no message at all; see ntr_message.defect */
} ntr_tcode;

/* ROLE(ID, text): what a message does to the execution that a decoder follows. */
#define NTR_ROLES(ROLE)                                                                              \
    ROLE(FIELDS, "nothing: it only carries fields")                                                  \
    ROLE(SYNC, "synchronizes: execution goes on at FADDR, and decoding may begin here")              \
    ROLE(BRANCH, "execution goes on to the branch, jump or trap at its end; RepeatBranch may repeat it") \
    ROLE(REPEAT, "repeats the branch message before")                                                \
    ROLE(RESOURCE, "adds to I-CNT or to the branch history of the message that follows")             \
    ROLE(STOP, "trace stops")                                                                        \
    ROLE(LOSS, "messages were lost")                                                                 \
    ROLE(CONTEXT, "changes the privilege mode or the context")                                       \
    ROLE(DATA, "data that the program wrote")                                                        \
    ROLE(EVENT, "an event at an address")

typedef enum ntr_role {
#define NTR_ROLE(id, text) NTR_ROLE_##id,
    NTR_ROLES(NTR_ROLE)
#undef NTR_ROLE
    NTR_ROLE_COUNT,
} ntr_role;

/* FLAG(ID, text): what else messages.def may say of a message. */
#define NTR_MESSAGE_FLAGS(FLAG)                                        \
    FLAG(ABSOLUTE, "its address and TSTAMP are absolute")              \
    FLAG(DIRECT, "of a direct branch that was taken; only BTM has it") \
    FLAG(HISTORY_END, "ends the branch history before it: with HIST, or without when there is no more")

enum {
#define NTR_FLAG(id, text) NTR_MESSAGE_BIT_##id,
    NTR_MESSAGE_FLAGS(NTR_FLAG)
#undef NTR_FLAG
    NTR_MESSAGE_BITS
};

/* A set of them. */
enum {
#define NTR_FLAG(id, text) NTR_IS_##id = 1 << NTR_MESSAGE_BIT_##id,
    NTR_MESSAGE_FLAGS(NTR_FLAG)
#undef NTR_FLAG
};

typedef enum ntr_field {
#define NTR_FIELD(id, member, text, shape, bits, base, about) NTR_FIELD_##id,
#include <ntrace/fields.def>
#undef NTR_FIELD
    NTR_FIELD_COUNT,
    NTR_FIELD_NONE = 0xff,
} ntr_field;

/* Set of fields: 1 << NTR_FIELD_x. */
typedef uint32_t ntr_fields;
#define NTR_HAS(message, id) (((message)->present >> NTR_FIELD_##id) & 1u)

typedef struct ntr_message {
    uint64_t offset;       /* of the first byte, in bytes from the start of the stream */
    uint64_t number;       /* position in the stream, counted from 1 */
    uint64_t size;         /* bytes of the stream it takes; more than raw.size only for NTR_E_MESSAGE_LONG */
    ntr_bytes raw;         /* the message's bytes; owned by whoever made the message */
    uint8_t tcode;         /* ntr_tcode, or any other value 0..63 */
    uint8_t defect_field;  /* ntr_field the defect was met at, or NTR_FIELD_NONE */
    int16_t defect;        /* NTR_OK, or the negative ntr_status that says what is wrong */
    ntr_fields present;    /* which members below mean something */
    union {
        struct {
#define NTR_FIELD(id, member, text, shape, bits, base, about) uint64_t member;
#include <ntrace/fields.def>
#undef NTR_FIELD
        };
        uint64_t value[NTR_FIELD_COUNT]; /* by ntr_field */
    };
    uint16_t width[NTR_FIELD_COUNT]; /* bits sent (decoding); bits to send at least, or 0 (encoding) */
} ntr_message;

/* Decode the message that is exactly `raw` (first byte after idle up to and including MSEO 11).
 *
 * Fills everything but `offset` and `number`. Values are as sent: address extension is left to
 * ntr_message_address. Members that are not present mean nothing, but for optional fields (ECODE): these
 * read 0. Returns NTR_OK, or the first defect (also stored in the message with the field it was met at): the
 * fields before it are present and right. After NTR_E_FIELD_LONG (the low 64 bits are kept) decoding goes on.
 * Defects: NTR_E_TRUNCATED, NTR_E_MSEO_RESERVED, NTR_E_FIELD_MISSING, NTR_E_FIELD_SPLIT,
 * NTR_E_FIELD_EXTRA, NTR_E_FIELD_LONG, NTR_E_FIELD_VALUE, NTR_E_HIST_STOP_BIT. */
NTR_API ntr_status ntr_message_decode(const ntr_params *params, ntr_bytes raw, ntr_message *message);

/* Encode the message's present fields; at most `capacity` bytes go to `out`.
 *
 * `width` of a variable field asks for at least so many bits (0: the minimum); TSTAMP is written when
 * present. With params->extend_addr an address of width 0 is taken for the whole address and shortened
 * (section 7.1); one that has a width is sent as it is, so what was decoded encodes to the same bytes.
 * Returns the number of bytes, or a negative ntr_status: NTR_E_SPACE, NTR_E_FIELD_MISSING,
 * NTR_E_FIELD_VALUE (a fixed field does not fit), NTR_E_INVALID (no such message). */
NTR_API int ntr_message_encode(const ntr_params *params, const ntr_message *message, uint8_t *out, size_t capacity);

/* The address that an ADDRESS field stands for: bit 0 restored, MSB extension or the dialect's fixed
 * width applied, cut to XLEN (section 7.1). For UADDR the result is to be XORed with the reference. */
NTR_API uint64_t ntr_message_address(const ntr_params *params, const ntr_message *message, ntr_field field);

/* Whether the TCODE is that of a synchronizing message (section 8). */
NTR_API bool ntr_tcode_is_sync(unsigned tcode);

/* Whether the TCODE is a vendor's to use, and whether it is reserved: neither the dialect's nor a vendor's (section 3).
 * NTR_TCODE_NONE is neither. `dialect` may be NULL. */
NTR_API bool ntr_tcode_is_vendor(const ntr_dialect *dialect, unsigned tcode);
NTR_API bool ntr_tcode_is_reserved(const ntr_dialect *dialect, unsigned tcode);

/* "IndirectBranchHist", "Vendor56", "Reserved1"; "Malformed" for NTR_TCODE_NONE. `dialect` may be NULL.
 * Static storage. */
NTR_API const char *ntr_tcode_name(const ntr_dialect *dialect, unsigned tcode);

/* ntr_value_name of a SYNC or EVCODE in N-Trace 1.0: "periodic" for SYNC 2, "entry into debug" for EVCODE 0. */
NTR_API const char *ntr_sync_name(unsigned code);
NTR_API const char *ntr_evcode_name(unsigned code);

/* "ICNT"; NULL for a value that is no field. Static storage. */
NTR_API const char *ntr_field_name(ntr_field field);

/* ---- the table, for those who print or generate ------------------------------------------------ */

typedef enum ntr_shape { NTR_SHAPE_CONFIG, NTR_SHAPE_FIXED, NTR_SHAPE_VARIABLE, NTR_SHAPE_ADDRESS } ntr_shape;
typedef enum ntr_base { NTR_BASE_DEC, NTR_BASE_HEX } ntr_base;

typedef struct ntr_field_info {
    const char *name;
    const char *about; /* one phrase for people */
    uint8_t shape; /* ntr_shape */
    uint8_t bits;  /* width when FIXED, the specification's maximum otherwise */
    uint8_t base;  /* ntr_base */
} ntr_field_info;

#define NTR_MESSAGE_FIELDS_MAX 5 /* longest list in messages.def */

typedef struct ntr_message_field {
    uint8_t field;      /* ntr_field; NTR_FIELD_NONE ends the list */
    uint8_t condition;  /* ntr_field this depends on, or NTR_FIELD_NONE */
    uint8_t when;       /* ... being this value */
    bool optional;      /* may be left out at the end of the message */
} ntr_message_field;

typedef struct ntr_message_info {
    const char *name;
    const char *about;
    uint8_t tcode;
    uint8_t messages; /* NTR_MESSAGES_* set of dialects that know it */
    ntr_message_field fields[NTR_MESSAGE_FIELDS_MAX + 1];
    uint8_t role;  /* ntr_role */
    uint8_t flags; /* NTR_IS_* set */
} ntr_message_info;

/* NULL for a value that is no field. */
NTR_API const ntr_field_info *ntr_field_get(ntr_field field);

/* The row of this TCODE in this dialect (NULL: N-Trace 1.0), or NULL for vendor and reserved ones. */
NTR_API const ntr_message_info *ntr_message_get(const ntr_dialect *dialect, unsigned tcode);

/* The index-th row of the table, NULL past the last. */
NTR_API const ntr_message_info *ntr_message_at(size_t index);

/* The name of a value of SYNC, BTYPE, ETYPE, RCODE, EVCODE, CDF or CKSRC, e.g. "periodic"; "reserved" or "vendor"
 * where the specification says no more; NULL for fields whose values have no names. `dialect` NULL: N-Trace 1.0.
 * Static storage. */
NTR_API const char *ntr_value_name(const ntr_dialect *dialect, ntr_field field, uint64_t value);

/* ---- layout ------------------------------------------------------------------------------------ */

/* Most fields one message can have: SRC, those of its row, TSTAMP. */
#define NTR_FIELDS_MAX (NTR_MESSAGE_FIELDS_MAX + 2)

/* List the present fields in transmission order (that of fields.def); returns how many. */
NTR_API size_t ntr_message_list(const ntr_message *message, ntr_field fields[NTR_FIELDS_MAX]);

/* Whether a decoded field was sent with more bits than an encoder would use (`width` tells how many), or, with
 * params->extend_addr, differently from how an encoder would send this value as a whole address. */
NTR_API bool ntr_message_is_padded(const ntr_params *params, const ntr_message *message, ntr_field field);

/* One byte of a decoded message's `raw`. */
typedef struct ntr_message_byte {
    uint8_t mdo, mseo;
    bool tcode;       /* TCODE ends here */
    bool data;        /* a nameless field of a vendor defined or reserved message ends here */
    ntr_fields ends;  /* fields that end here */
} ntr_message_byte;

/* Errors: NTR_E_RANGE when `index` is past the end of `raw`. */
NTR_API ntr_status ntr_message_byte_at(const ntr_params *params, const ntr_message *message, size_t index,
                                       ntr_message_byte *byte);

/* ---- text forms (ntrace dump, ntrace assemble) ------------------------------------------------- */

/* Longest line any of these makes, with the terminating NUL. With less `capacity` they still work when the
 * line fits, only slower. */
#define NTR_MESSAGE_TEXT_MAX (8 * NTR_MESSAGE_BYTES_MAX)

/* "#12 @0x1f IndirectBranchHist BTYPE=0 ICNT=125 UADDR=0x7 HIST=0xffe", no line feed.
 *
 * A field that ntr_message_is_padded shows its bits, "ICNT=125:18"; the payload of vendor defined and reserved
 * messages is "DATA=0x1f:12,0x0:6", bits after each value; a defective message ends in
 * "BYTES=70d01f !UADDR: message ends before this mandatory field". So the text always gives back the same
 * bytes; only NTR_E_MESSAGE_LONG shows its SIZE instead. Returns the length, or NTR_E_SPACE. */
NTR_API int ntr_message_format(const ntr_params *params, const ntr_message *message, char *out, size_t capacity);

/* The same as a JSON object (one of JSON Lines), no line feed:
 *
 *   {"number":12,"offset":31,"size":6,"name":"IndirectBranchHist","tcode":28,
 *    "fields":{"BTYPE":0,"ICNT":125,"UADDR":7,"HIST":4094},"defect":null}
 *
 * Values above 2^53-1 are strings, "0x7fffffffffffffff", since few readers keep such numbers exact. Where
 * needed there are "widths":{"ICNT":18}, "data":"0x1f:12,0x0:6", "bytes":"70d01f";
 * "defect":{"code":"NTR_E_FIELD_MISSING","field":"UADDR","text":"message ends..."}; "tcode" is null for bytes that
 * are no message. Returns as above. */
NTR_API int ntr_message_format_json(const ntr_params *params, const ntr_message *message, char *out, size_t capacity);

/* The same as a CSV row (RFC 4180 without its CR): number,offset,size,tcode,name, every field of fields.def,
 * data,defect. `message` NULL: the row of column names. Returns as above. */
NTR_API int ntr_message_format_csv(const ntr_params *params, const ntr_message *message, char *out, size_t capacity);

/* Parses one line of the text form into the bytes of the message.
 *
 * "#12 @0x1f" may be missing. Names are accepted in any case, with hyphens (I-CNT), and as RDATA and HREPEAT for RDATA0
 * and RDATA1. Numbers are decimal or 0x. BYTES overrules everything else; "!" and what follows is ignored. Blank lines
 * and lines that begin with "#" but no number are comments. The JSON form: ntr_message_assemble_json in
 * <ntrace/export.h>.
 *
 * Returns the number of bytes written to `out` (0: blank or comment), or a negative ntr_status; then `*column` (may be
 * NULL) is the 0-based column of the mistake. Errors: NTR_E_SYNTAX, NTR_E_NAME (no such message or field),
 * NTR_E_FIELD_NAME (not in this message), NTR_E_FIELD_MISSING, NTR_E_FIELD_VALUE (does not fit), NTR_E_RANGE (no 64-bit
 * number), NTR_E_MESSAGE_LONG, NTR_E_SPACE. */
NTR_API int ntr_message_assemble(const ntr_params *params, const char *line, uint8_t *out, size_t capacity,
                                 size_t *column);

#ifdef __cplusplus
}
#endif
#endif

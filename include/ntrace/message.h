/* Messages: an N-Trace message as a struct, its decoder and its encoder.
 *
 * Decoder, encoder, text form and documentation use the same tables: fields.def, messages.def and values.def. No
 * function allocates. N-Trace 1.0 sections 2 (framing) and 3 to 6 (messages). */
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
    NTR_TCODE_NONE = 0xff, /* bytes that are not a message; see ntr_message.defect */
} ntr_tcode;

/* The direction of a data message. */
typedef enum ntr_data_access { NTR_DATA_READ = 0, NTR_DATA_WRITE } ntr_data_access;

/* ROLE(ID, text): what a message does to the execution that a decoder follows. */
#define NTR_ROLES(ROLE)                                                                                                \
    ROLE(FIELDS, "nothing: it only carries fields")                                                                    \
    ROLE(SYNC, "synchronizes: execution continues at FADDR, and decoding may begin here")                              \
    ROLE(BRANCH, "execution continues to the branch, jump or trap at its end; RepeatBranch may repeat it")             \
    ROLE(REPEAT, "repeats the branch message before")                                                                  \
    ROLE(RESOURCE, "adds to I-CNT or to the branch history of the message that follows")                               \
    ROLE(STOP, "trace stops")                                                                                          \
    ROLE(LOSS, "messages were lost")                                                                                   \
    ROLE(CONTEXT, "changes the privilege mode or the context")                                                         \
    ROLE(DATA, "data that the program wrote")                                                                          \
    ROLE(EVENT, "an event at an address")                                                                              \
    ROLE(ACCESS, "a load or store of the program")                                                                     \
    ROLE(WATCHPOINT, "watchpoints were hit")                                                                           \
    ROLE(TRAP_VALUE, "the value that the trap before it gave to the trap handler")                                     \
    ROLE(ACQUISITION, "data that the hart or the program wrote, with a tag of fixed width")                            \
    ROLE(SELF_LOOP, "execution continues to a branch to itself, which is executed RCNT more times")                    \
    ROLE(PREDICTION, "counts branches that went as predicted")                                                         \
    ROLE(CACHED_BRANCH, "as a branch message, with a target from the jump target cache")

typedef enum ntr_role {
#define NTR_ROLE(id, text) NTR_ROLE_##id,
    NTR_ROLES(NTR_ROLE)
#undef NTR_ROLE
        NTR_ROLE_COUNT,
} ntr_role;

/* FLAG(ID, text): further properties of a message in messages.def. */
#define NTR_MESSAGE_FLAGS(FLAG)                                                                                        \
    FLAG(ABSOLUTE, "its address and TSTAMP are absolute")                                                              \
    FLAG(DIRECT, "of a direct branch that was taken; only BTM has it")                                                 \
    FLAG(HISTORY_END, "ends the branch history before it: with HIST, or without when there is no more")                \
    FLAG(STORE, "of data that the program stored")                                                                     \
    FLAG(CACHED, "the target of its jump is kept in the jump target cache, if there is one")

enum {
#define NTR_FLAG(id, text) NTR_MESSAGE_BIT_##id,
    NTR_MESSAGE_FLAGS(NTR_FLAG)
#undef NTR_FLAG
        NTR_MESSAGE_BITS
};

/* The same as a set. */
enum {
#define NTR_FLAG(id, text) NTR_FLAG_##id = 1 << NTR_MESSAGE_BIT_##id,
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
typedef uint64_t ntr_fields;
#define NTR_HAS(message, id) (((message)->present >> NTR_FIELD_##id) & 1u)

typedef struct ntr_message {
    uint64_t offset;       /* of the first byte, in bytes from the start of the stream */
    uint64_t number;       /* position in the stream, counted from 1 */
    uint64_t size;         /* bytes of the stream; more than raw.size only for NTR_E_MESSAGE_LONG */
    ntr_bytes raw;         /* bytes of the message; the reader or the caller of ntr_message_decode owns them */
    uint8_t tcode;         /* ntr_tcode, or any other value 0..63 */
    uint8_t defect_field;  /* ntr_field of the defect, or NTR_FIELD_NONE */
    int16_t defect;        /* NTR_OK, or the negative ntr_status of the defect */
    ntr_fields present;    /* fields that the message has; the members of others are not valid */
    union {
        struct {
#define NTR_FIELD(id, member, text, shape, bits, base, about) uint64_t member;
#include <ntrace/fields.def>
#undef NTR_FIELD
        };
        uint64_t value[NTR_FIELD_COUNT]; /* by ntr_field */
    };
    uint16_t width[NTR_FIELD_COUNT]; /* decoding: bits sent; encoding: bits to send at least, or 0 */
} ntr_message;

/* Decodes one message. `raw` is exactly the message: from the first byte after idle up to and including MSEO 11.
 *
 * Fills all members except `offset` and `number`. Values are as sent; ntr_message_address extends addresses. Members of
 * fields that are not present are not valid, except optional fields (ECODE), which are 0. Returns NTR_OK, or the first
 * defect, which is also stored in the message with its field; the fields before it are present and correct. After
 * NTR_E_FIELD_LONG (the low 64 bits are kept) decoding continues.
 * Defects: NTR_E_TRUNCATED, NTR_E_MSEO_RESERVED, NTR_E_FIELD_MISSING, NTR_E_FIELD_SPLIT,
 * NTR_E_FIELD_EXTRA, NTR_E_FIELD_LONG, NTR_E_FIELD_VALUE, NTR_E_HIST_STOP_BIT. */
NTR_API ntr_status ntr_message_decode(const ntr_params *params, ntr_bytes raw, ntr_message *message);

/* Encodes the present fields of a message into at most `capacity` bytes at `out`.
 *
 * A variable field has at least `width` bits (0: the minimum). TSTAMP is written if it is present. With
 * params->extend_addr an address with width 0 is a full address and is shortened (section 7.1); an address with a
 * width is sent unchanged, so that a decoded message encodes to the same bytes. Returns the number of bytes, or a
 * negative ntr_status: NTR_E_SPACE, NTR_E_FIELD_MISSING, NTR_E_FIELD_VALUE (a fixed field does not fit),
 * NTR_E_INVALID (no such message). */
NTR_API int ntr_message_encode(const ntr_params *params, const ntr_message *message, uint8_t *out, size_t capacity);

/* Returns the address of an ADDRESS field: with bit 0 restored, sign-extended by MSB extension or the address width
 * of the dialect, and cut to XLEN (section 7.1). The caller XORs the result for UADDR with the reference. */
NTR_API uint64_t ntr_message_address(const ntr_params *params, const ntr_message *message, ntr_field field);

/* Returns true if the TCODE is that of a synchronizing message (section 8). */
NTR_API bool ntr_tcode_is_sync(unsigned tcode);

/* Return true if the TCODE is vendor defined, or reserved: neither of the dialect nor vendor defined (section 3).
 * Both are false for NTR_TCODE_NONE. `dialect` may be NULL. */
NTR_API bool ntr_tcode_is_vendor(const ntr_dialect *dialect, unsigned tcode);
NTR_API bool ntr_tcode_is_reserved(const ntr_dialect *dialect, unsigned tcode);

/* Returns the name of a TCODE: "IndirectBranchHist", "Vendor56", "Reserved1"; "Malformed" for NTR_TCODE_NONE.
 * `dialect` may be NULL. Static storage. */
NTR_API const char *ntr_tcode_name(const ntr_dialect *dialect, unsigned tcode);

/* Return ntr_value_name of a SYNC or EVCODE in N-Trace 1.0: "periodic" for SYNC 2, "entry into debug" for EVCODE 0. */
NTR_API const char *ntr_sync_name(unsigned code);
NTR_API const char *ntr_evcode_name(unsigned code);

/* Returns the name of a field, "ICNT", or NULL when there is no such field. Static storage. */
NTR_API const char *ntr_field_name(ntr_field field);

/* ---- tables of fields and messages --------------------------------------------------------------- */

typedef enum ntr_shape {
    NTR_SHAPE_CONFIG,
    NTR_SHAPE_FIXED,
    NTR_SHAPE_VARIABLE,
    NTR_SHAPE_ADDRESS,
    NTR_SHAPE_MORE
} ntr_shape;
typedef enum ntr_base { NTR_BASE_DEC, NTR_BASE_HEX } ntr_base;

typedef struct ntr_field_info {
    const char *name;
    const char *about; /* one phrase of description */
    uint8_t shape; /* ntr_shape */
    uint8_t bits;  /* width when FIXED, the specification's maximum otherwise */
    uint8_t base;  /* ntr_base */
} ntr_field_info;

#define NTR_MESSAGE_FIELDS_MAX 7 /* longest list in messages.def */

typedef struct ntr_message_field {
    uint8_t field;      /* ntr_field; NTR_FIELD_NONE ends the list */
    uint8_t condition;  /* the field is present if this ntr_field ... (NTR_FIELD_NONE: always) */
    uint8_t when;       /* ... has this value */
    bool optional;      /* may be left out at the end of the message */
} ntr_message_field;

typedef struct ntr_message_info {
    const char *name;
    const char *about;
    uint8_t tcode;
    uint8_t messages; /* NTR_MESSAGES_* set of dialects that have the message */
    ntr_message_field fields[NTR_MESSAGE_FIELDS_MAX + 1];
    uint8_t role;  /* ntr_role */
    uint8_t flags; /* NTR_FLAG_* set */
} ntr_message_info;

/* Returns the row of a field, or NULL when there is no such field. Static storage. */
NTR_API const ntr_field_info *ntr_field_get(ntr_field field);

/* Returns the row of a TCODE in a dialect (NULL: N-Trace 1.0), or NULL when it is vendor defined or reserved. */
NTR_API const ntr_message_info *ntr_message_get(const ntr_dialect *dialect, unsigned tcode);

/* Returns the row with this index, or NULL past the last. */
NTR_API const ntr_message_info *ntr_message_at(size_t index);

/* Returns the name of a value of SYNC, BTYPE, ETYPE, RCODE, EVCODE, CDF or CKSRC, for example "periodic". Values
 * that the specification does not define are "reserved" or "vendor". Returns NULL for other fields. `dialect` NULL:
 * N-Trace 1.0. Static storage. */
NTR_API const char *ntr_value_name(const ntr_dialect *dialect, ntr_field field, uint64_t value);

/* ---- text forms (ntrace dump, ntrace assemble) ------------------------------------------------- */

/* Longest line of the functions below, with its NUL. With a smaller `capacity` they work if the line fits, but
 * slower. */
#define NTR_MESSAGE_TEXT_MAX (8 * NTR_MESSAGE_BYTES_MAX)

/* "#12 @0x1f IndirectBranchHist BTYPE=0 ICNT=125 UADDR=0x7 HIST=0xffe", no line feed.
 *
 * A field that an encoder would send with another width shows its bits, "ICNT=125:18"; the payload of vendor defined
 * and reserved messages is "DATA=0x1f:12,0x0:6", bits after each value; a defective message ends in "BYTES=70d01f
 * !UADDR: message ends before this mandatory field". So the text always gives back the same bytes; only
 * NTR_E_MESSAGE_LONG shows its SIZE instead. Returns the length, or NTR_E_SPACE. */
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

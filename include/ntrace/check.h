/* Checking: which rules of the specification a stream breaks. Every rule has a name, a section and a severity; what
 * one message shows by itself, what the messages of one source show in their order, and, with the program, what they
 * say of the execution.
 *
 * Bytes in, findings out by callback. After bytes that are no message, and after a message with a defect, the order of
 * messages is not judged until the source synchronizes again: one mistake makes one finding. */
#ifndef NTRACE_CHECK_H
#define NTRACE_CHECK_H

#include <ntrace/allocator.h>
#include <ntrace/message.h>
#include <ntrace/program.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ntr_severity {
    NTR_SEVERITY_NOTE,    /* legal, but worth knowing: read differently by different readers, or wasteful */
    NTR_SEVERITY_WARNING, /* the text can be read otherwise, or a recommendation is not followed */
    NTR_SEVERITY_ERROR,   /* no encoder of N-Trace 1.0 may send this */
} ntr_severity;

typedef struct ntr_check_rule {
    const char *id;       /* "mseo-reserved"; stays the same from version to version */
    const char *section;  /* of N-Trace 1.0 */
    const char *about;    /* the rule, one sentence */
    const char *breaking; /* how to break it */
    uint8_t severity;     /* ntr_severity */
    uint8_t field;        /* ntr_field it is about, or NTR_FIELD_NONE */
} ntr_check_rule;

/* The index-th rule, NULL past the last. */
NTR_API const ntr_check_rule *ntr_check_rule_at(size_t index);

/* "note", "warning", "error". Static storage. */
NTR_API const char *ntr_severity_name(ntr_severity severity);

typedef struct ntr_finding {
    const ntr_check_rule *rule; /* that is broken */
    size_t index;               /* its number in the catalogue */
    uint8_t severity;           /* ntr_severity: the rule's, or less where the dialect is known for the habit */
    uint8_t field;              /* ntr_field where, or NTR_FIELD_NONE */
    uint8_t tcode;
    bool has_source, has_address;
    uint16_t src;
    uint64_t offset, size, message; /* bytes and number of the message; size 0: not known */
    uint64_t address;               /* with the program: where execution was */
    const ntr_message *at; /* the message; NULL when the finding is about the execution. Lives during the call */
} ntr_finding;

typedef struct ntr_check_config {
    size_t size; /* sizeof(ntr_check_config) */
    ntr_params params;
    const ntr_program *program; /* NULL: only messages are judged */
    const ntr_allocator *allocator;
    void (*found)(void *user, const ntr_finding *finding);
    void *user;
    bool mid_stream;      /* the stream starts in the middle of a message (a wrapped buffer) */
    uint32_t sync_period; /* messages from one synchronization to the next at most; 0: not known */
} ntr_check_config;

typedef struct ntr_check ntr_check;

/* Errors (*status, may be NULL): NTR_E_MEMORY, NTR_E_INVALID (no `found`), as ntr_params_check. */
NTR_API ntr_check *ntr_check_new(const ntr_check_config *config, ntr_status *status);
NTR_API void ntr_check_free(ntr_check *check);

/* Judge the next bytes, whole messages or not; `last`: nothing follows. Errors: NTR_E_MEMORY. */
NTR_API ntr_status ntr_check_feed(ntr_check *check, const uint8_t *data, size_t size, bool last);

/* Messages judged so far. */
NTR_API uint64_t ntr_check_messages(const ntr_check *check);

#ifdef __cplusplus
}
#endif
#endif

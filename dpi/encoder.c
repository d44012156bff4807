/* The encoder for DPI-C. */
#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ntrace/encoder_hardware.h>

struct model {
    dpi_error error;
    ntr_encoder_config config;
    ntr_encoder *encoder;
    dpi_bytes sent;
    uint8_t ctype;
    uint64_t scontext, hcontext;
    char text[NTR_MESSAGE_TEXT_MAX];
};

static ntr_status take_message(void *user, const uint8_t *bytes, size_t size) {
    struct model *model = user;

    return dpi_bytes_add(&model->sent, bytes, size) ? NTR_OK : NTR_E_MEMORY;
}

void *ntr_dpi_encoder_new(const char *options) {
    struct model *model = calloc(1, sizeof *model);
    ntr_status status;

    if (!model || !dpi_options(&model->error, options, &model->config)) return model;
    model->config.sink = take_message;
    model->config.sink_user = model;
    status = ntr_encoder_new(&model->config, &model->encoder);
    if (!model->encoder) dpi_status(&model->error, "encoder", status, NULL);
    return model;
}

void ntr_dpi_encoder_free(void *encoder) {
    struct model *model = encoder;

    if (!model) return;
    ntr_encoder_free(model->encoder);
    free(model->sent.data);
    free(model);
}

static struct model *usable(void *encoder) {
    struct model *model = encoder;

    return model && model->encoder ? model : NULL;
}

const char *ntr_dpi_encoder_error(void *encoder) {
    const struct model *model = encoder;

    return model ? model->error.text : "out of memory";
}

int ntr_dpi_encoder_push(void *encoder, uint64_t iaddr, unsigned iretire, unsigned ilastsize, unsigned itype,
                         unsigned priv, unsigned flags, uint64_t stamp) {
    struct model *model = usable(encoder);
    if (!model) return NTR_E_STATE;
    if ((ilastsize | itype | priv) > UINT8_MAX) return dpi_status(&model->error, "block", NTR_E_RANGE, NULL);
    const ntr_ingress block = {
        .iaddr = iaddr,
        .iretire = iretire,
        .ilastsize = (uint8_t)ilastsize,
        .itype = (uint8_t)itype,
        .priv = (uint8_t)priv,
        .ctype = model->ctype,
        .sijump = flags & NTR_DPI_SIJUMP,
        .halted = flags & NTR_DPI_HALTED,
        .reset = flags & NTR_DPI_RESET,
        .no_iaddr = flags & NTR_DPI_NO_IADDR,
        .cycle = !(flags & NTR_DPI_SAME_CYCLE),
        .scontext = model->scontext,
        .hcontext = model->hcontext,
        .time = stamp,
    };
    model->ctype = NTR_CTYPE_UNREPORTED;
    ntr_status status = ntr_encoder_push(model->encoder, &block);
    const char *details = status == NTR_E_INGRESS ? ntr_encoder_error(model->encoder) : NULL;
    return dpi_status(&model->error, "block", status, details);
}

/* The contexts apply to the next block and all following ones; the ctype applies to the next block only. */
int ntr_dpi_encoder_context(void *encoder, unsigned ctype, uint64_t scontext, uint64_t hcontext) {
    struct model *model = usable(encoder);

    if (!model) return NTR_E_STATE;
    if (ctype > NTR_CTYPE_ASYNC) return dpi_status(&model->error, "ctype", NTR_E_RANGE, NULL);
    model->ctype = (uint8_t)ctype;
    model->scontext = scontext;
    model->hcontext = hcontext;
    return NTR_OK;
}

int ntr_dpi_encoder_tracing(void *encoder, unsigned on) {
    struct model *model = usable(encoder);

    return model ? dpi_status(&model->error, "tracing", ntr_encoder_set_tracing(model->encoder, on), NULL)
                 : NTR_E_STATE;
}

int ntr_dpi_encoder_request_sync(void *encoder, unsigned sync) {
    struct model *model = usable(encoder);

    return model ? dpi_status(&model->error, "sync", ntr_encoder_request_sync(model->encoder, sync), NULL)
                 : NTR_E_STATE;
}

int ntr_dpi_encoder_stop(void *encoder, uint64_t next, unsigned evcode) {
    struct model *model = usable(encoder);

    return model ? dpi_status(&model->error, "stop", ntr_encoder_stop(model->encoder, next, evcode), NULL)
                 : NTR_E_STATE;
}

int ntr_dpi_encoder_take(void *encoder) {
    struct model *model = usable(encoder);

    if (!model) return -1;
    dpi_bytes *sent = &model->sent;
    if (sent->at < sent->size) return sent->data[sent->at++];
    sent->at = sent->size = 0;
    return -1;
}

/* Converts hexadecimal digits to bytes. Returns the number of bytes. */
static size_t parse_hex(const char *digits, uint8_t *out, size_t capacity) {
    size_t size = 0;

    for (; size < capacity && digits[0] && digits[1]; digits += 2) {
        const char pair[3] = {digits[0], digits[1], 0};
        out[size++] = (uint8_t)strtoul(pair, NULL, 16);
    }
    return size;
}

const char *ntr_dpi_encoder_describe(void *encoder, const char *digits) {
    struct model *model = usable(encoder);
    uint8_t bytes[NTR_MESSAGE_BYTES_MAX];
    ntr_message message = {0};

    if (!model) return "";
    size_t size = parse_hex(digits, bytes, sizeof bytes);
    ntr_message_decode(&model->config.params, (ntr_bytes){bytes, size}, &message); /* a defect is part of the text */
    if (ntr_message_format(&model->config.params, &message, model->text, sizeof model->text) < 0) return "";
    const char *name = strpbrk(model->text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"); /* after "#0 @0x0" */
    return name ? name : model->text;
}

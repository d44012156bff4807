#include "capture/run.h"
#include <ntrace/encoder_hardware.h>

void ntr_capture_run_begin(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, uint64_t iaddr,
                           uint64_t instructions) {
    hart->run.iaddr = iaddr;
    ntr_capture_note(harts, ntr_enc_begin_run(hart->encoder, iaddr, ntr_capture_now(harts, hart, instructions)));
}

void ntr_capture_run_push(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, const ntr_code_block *code,
                          unsigned itype) {
    ntr_enc_run *run = &hart->run;

    if (!run->iretire) return;
    run->itype = (uint8_t)itype;
    run->time = ntr_capture_now(harts, hart, 0);
    if (code) {
        run->end = code->start + 2u * code->halfwords;
        run->sijump =
            code->constant_register && code->instructions > 1 && code->constant_register == code->jump_register;
    }
    ntr_capture_note(harts, ntr_enc_push_run(hart->encoder, run));
    *run = (ntr_enc_run){0};
    hart->branches = (uint8_t)ntr_enc_run_branches(hart->encoder);
}

/* Code that only calls and returns has no branch message that could become a synchronizing one. */
void ntr_capture_run_flush(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart) {
    if (!hart->run.iretire) return;
    ntr_capture_run_push(harts, hart, NULL, NTR_ITYPE_NONE);
    if (ntr_enc_sync_is_late(hart->encoder))
        ntr_capture_note(harts, ntr_encoder_request_sync(hart->encoder, NTR_SYNC_PERIODIC));
}

void ntr_capture_run_stop(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, uint64_t next) {
    uint64_t follows;

    ntr_capture_run_flush(harts, hart);
    ntr_capture_note(harts, ntr_classifier_finish(hart->classifier, &follows));
    if (next == NTR_ADDRESS_UNKNOWN) next = follows;
    if (harts->system) {
        ntr_capture_note(harts, ntr_capture_system_leave(harts->system, (unsigned)(hart - harts->harts), next));
    } else {
        ntr_capture_note(harts, ntr_encoder_stop(hart->encoder, next, harts->config->stop_evcode));
        hart->branches = (uint8_t)ntr_enc_run_branches(hart->encoder);
    }
}

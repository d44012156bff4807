/* perf.data: any file is read without faults; the stream that is made of it is decoded. */
#include "fuzz.h"

#include <ntrace/decoder.h>
#include <ntrace/perf_data.h>
#include <stdlib.h>

size_t fuzz_stream_at(const uint8_t *data, size_t size) {
    (void)data, (void)size;
    return SIZE_MAX;
}

static ntr_status take(void *user, const void *bytes, size_t size) {
    fuzz_add(user, bytes, size);
    return NTR_OK;
}

static void decode(const ntr_params *params, const ntr_program *program, const fuzz_bytes *stream) {
    ntr_decoder_config config;
    ntr_counts counts = {0};

    ntr_decoder_config_init(&config);
    config.params = *params;
    config.program = program;
    ntr_decoder *decoder;
    ntr_decoder_new(&config, &decoder);
    if (!decoder) return;
    ntr_decoder_feed(decoder, stream->data, stream->size, true);
    ntr_decoder_count(decoder, &counts);
    ntr_decoder_free(decoder);
}

static void make_stream(ntr_perf_data *data, ntr_params *params, ntr_program *program, size_t size) {
    static const char *const folders[] = {"/nonexistent"};
    ntr_perf_config config;
    fuzz_bytes stream = {NULL, 0, 0};
    const ntr_perf_process *process;
    uint64_t bytes = 0;

    ntr_perf_config_init(&config);
    config.sysroot = "/nonexistent"; /* paths in the input are those of no file */
    config.folders = folders;
    config.folder_count = 1;
    if (ntr_perf_data_stream(data, params, take, &stream) == NTR_OK) {
        for (size_t i = 0; (process = ntr_perf_data_process(data, i)); i++) bytes += process->bytes;
        /* of a process or of none: where scontext is a thread's number, messages of unknown threads are not counted */
        fuzz_must(bytes <= stream.size + size, "a process has no more bytes than there are");
        ntr_perf_data_load(data, &config, program);
        decode(params, program, &stream);
    }
    free(stream.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    ntr_perf_data *data;
    ntr_perf_data_new(NULL, &data);
    ntr_program *program;
    ntr_program_new(NULL, &program);
    ntr_params params;

    ntr_params_init(&params, NULL);
    if (data && program && ntr_perf_data_read(data, "input", (ntr_bytes){bytes, size}) == NTR_OK) {
        ntr_perf_data_params(data, &params);
        make_stream(data, &params, program, size);
    } else if (data) {
        fuzz_must(*ntr_perf_data_error(data), "a refused file has a reason");
    }
    ntr_program_free(program);
    ntr_perf_data_free(data);
    return 0;
}

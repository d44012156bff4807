/* Prints the functions of a program with their instructions, by two threads.
 *
 *     profile PROGRAM.elf TRACE.nex */
#include <ntrace/tools.h>

#include <inttypes.h>
#include <stdio.h>

static ntr_status read_stream(void *file, uint8_t *to, size_t capacity, size_t *got, bool *last) {
    *got = fread(to, 1, capacity, file);
    *last = *got < capacity;
    return ferror(file) ? NTR_E_IO : NTR_OK;
}

static void count_gaps(void *file, const ntr_event *event) {
    (void)file;
    if (event->kind == NTR_EVENT_GAP) fprintf(stderr, "byte 0x%" PRIx64 ": a gap\n", event->offset);
}

int main(int argc, char **argv) {
    FILE *trace = argc == 3 ? fopen(argv[2], "rb") : NULL;
    if (!trace) return fprintf(stderr, "usage: profile PROGRAM.elf TRACE.nex\n"), 2;

    ntr_program *program;
    ntr_program_new(NULL, &program);
    if (ntr_program_add_elf(program, argv[1], NULL) != NTR_OK)
        return fprintf(stderr, "%s\n", ntr_program_error(program)), 1;
    ntr_decoder_config decoder;
    ntr_decoder_config_init(&decoder);
    decoder.program = program;

    ntr_analysis analysis;
    ntr_analysis_init(&analysis);
    analysis.program = program;
    ntr_debug_info_new(program, NULL, &analysis.debug);
    ntr_functions_new(analysis.debug, NULL, &analysis.functions);
    ntr_calltree_new(analysis.functions, NULL, &analysis.tree);

    ntr_analyzer_config config;
    ntr_analyzer_config_init(&config);
    config.decoder = &decoder;
    config.analysis = &analysis;
    config.alone = true; /* one source */
    config.read = read_stream;
    config.other = count_gaps;
    config.user = trace;
    ntr_analyzer *analyzer;
    ntr_status status = ntr_analyzer_new(&config, &analyzer);
    if (analyzer) status = ntr_analyzer_run(analyzer, 2);
    ntr_analyzer_free(analyzer);
    ntr_calltree_finish(analysis.tree);

    ntr_profile profile = {0};
    if (status == NTR_END)
        status = ntr_profile_make(&profile, NTR_PROFILE_FUNCTION, program, analysis.debug, analysis.functions,
                                  analysis.tree, NULL, NULL);
    for (size_t i = 0; i < profile.count; i++)
        printf("%" PRIu64 " %" PRIu64 " %s\n", profile.rows[i].self, profile.rows[i].total, profile.rows[i].name);
    ntr_profile_release(&profile);
    ntr_calltree_free(analysis.tree);
    ntr_functions_free(analysis.functions);
    ntr_debug_info_free(analysis.debug);
    ntr_program_free(program);
    fclose(trace);
    return status == NTR_OK ? 0 : 1;
}

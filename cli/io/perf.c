#include "io/perf.h"
#include "io/debug_files.h"
#include "io/input.h"
#include "io/module.h"
#include "options/auto.h"
#include "options/diagnostics.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool cli_perf_seen(const char *path) {
    uint8_t bytes[16];
    struct stat about;

    if (stat(path, &about)) return false;
    if (S_ISDIR(about.st_mode)) return ntr_perf_folder_seen(path);
    int fd = S_ISREG(about.st_mode) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0) return false;
    const size_t size = cli_read_all(fd, bytes, sizeof bytes);
    close(fd);
    return ntr_perf_data_seen((ntr_bytes){bytes, size});
}

/* ---- images */

/* Where perf keeps copies of files by build id. */
static const char *build_id_folder(char folder[PATH_MAX]) {
    const char *given = getenv("PERF_BUILDID_DIR"), *home = getenv("HOME");

    if (!given && !home) return NULL;
    int size = given ? snprintf(folder, PATH_MAX, "%s/.build-id", given)
                     : snprintf(folder, PATH_MAX, "%s/.debug/.build-id", home);
    return size < PATH_MAX ? folder : NULL;
}

static int load(ntr_perf_data *data, const char *path, const struct cli_images *images, bool bpf_later,
                ntr_program *program) {
    char folder[PATH_MAX];
    ntr_perf_config config;
    const char **folders = calloc(images->folders.count + 1, sizeof *folders);

    if (!folders) return cli_fail("%s: out of memory", path);
    for (size_t i = 0; i < images->folders.count; i++) folders[i] = images->folders.items[i].value;
    ntr_perf_config_init(&config);
    config.sysroot = images->sysroot;
    config.build_ids = build_id_folder(folder);
    config.folders = folders;
    config.folder_count = images->folders.count;
    config.bpf_later = bpf_later;
    ntr_status status = ntr_perf_data_load(data, &config, program);
    free(folders);
    return status == NTR_OK ? CLI_OK : cli_fail("%s: %s", path, ntr_status_text(status));
}

/* Reports each loss once. */
static void report_losses(const ntr_perf_data *data, const char *path) {
    const char *loss;

    for (size_t i = 0; (loss = ntr_perf_data_loss(data, i)); i++)
        if (cli_first_time(path, loss)) (ntr_perf_data_is_damaged(data) ? cli_doubt : cli_note)("%s: %s", path, loss);
}

int cli_perf_load(ntr_perf_data *data, const char *path, const struct cli_images *images, ntr_program *program) {
    int status = load(data, path, images, true, program);

    report_losses(data, path);
    return status;
}

/* Which contexts see the kernel's code: those that see the kernel. */
static void bind_as_kernel(const ntr_program *program, ntr_image_options *options) {
    ntr_image_info info;

    for (size_t i = 0; ntr_program_image(program, i, &info) == NTR_OK; i++) {
        if (!info.name || strcmp(info.name, "[kernel]") != 0) continue;
        options->has_prv = info.options.has_prv;
        options->prv = info.options.prv;
        return;
    }
}

static int load_module(const ntr_perf_module *module, const char *path, ntr_program *program) {
    const ntr_module_place place = {NTR_MODULE_KERNEL, module->address, module->length};
    char name[300], *linked;
    ntr_image_options options;

    if (cli_module_link(module->path, module->name, place, program, &linked) != CLI_OK) return CLI_OK; /* is reported */
    snprintf(name, sizeof name, "[%s]", module->name);
    ntr_image_options_init(&options);
    options.name = name;
    options.from = module->from;
    options.until = module->until;
    bind_as_kernel(program, &options);
    const ntr_status status =
        (module->has_code ? ntr_program_add_symbols : ntr_program_add_elf)(program, linked, &options);
    free(linked);
    if (status == NTR_E_MEMORY) return cli_fail("%s: out of memory", path);
    if (status != NTR_OK) cli_note("%s: module %s: %s", path, module->name, ntr_program_error(program));
    return CLI_OK;
}

int cli_perf_load_modules(ntr_perf_data *data, const char *path, ntr_program *program) {
    const ntr_perf_module *module;

    for (size_t i = 0; (module = ntr_perf_data_module(data, i)); i++) {
        if (module->ambiguous) continue;
        if (!cli_module_is(module->path))
            cli_note("%s: module %s: its file is not a module of RISC-V", path, module->name);
        else if (load_module(module, path, program) != CLI_OK)
            return CLI_FAILED;
    }
    const ntr_status status = ntr_perf_data_load_bpf(data, program);
    report_losses(data, path);
    return status == NTR_OK ? CLI_OK : cli_fail("%s: %s", path, ntr_status_text(status));
}

/* ---- the stream */

/* A program with all files and no contexts, to infer parameters with. */
static int infer(ntr_perf_data *data, const char *path, const struct cli_images *images,
                 const struct cli_stream *stream, ntr_params *params) {
    ntr_program *program = cli_program_new();
    int status = program ? load(data, path, images, false, program) : cli_fail("%s: out of memory", path);

    if (status == CLI_OK) status = cli_images_load(images, NULL, program);
    if (status == CLI_OK)
        status = stream->infer ? cli_auto_params(stream, 0, path, ntr_perf_data_sample(data), program, params, NULL)
                               : cli_auto_defaults(path, 0, ntr_perf_data_sample(data), program, params, NULL);
    ntr_program_free(program);
    return status;
}

static ntr_status write_part(void *user, const void *bytes, size_t size) {
    return fwrite(bytes, 1, size, user) == size ? NTR_OK : NTR_E_IO;
}

static int write_stream(ntr_perf_data *data, const char *path, ntr_params *params, int *fd) {
    FILE *file = tmpfile();

    if (!file) return cli_fail("%s: cannot make a temporary file", path);
    ntr_status status = ntr_perf_data_stream(data, params, write_part, file);
    if (status == NTR_OK && fflush(file)) status = NTR_E_IO;
    *fd = status == NTR_OK ? dup(fileno(file)) : -1;
    if (status == NTR_OK && (*fd < 0 || lseek(*fd, 0, SEEK_SET) < 0)) status = NTR_E_IO;
    fclose(file);
    if (status == NTR_OK) return CLI_OK;
    if (*ntr_perf_data_error(data)) return cli_fail("%s", ntr_perf_data_error(data));
    return cli_fail("%s: %s", path,
                    status == NTR_E_IO ? "the temporary file cannot be written" : ntr_status_text(status));
}

static int make_stream(ntr_perf_data *data, const char *path, const struct cli_images *images,
                       const struct cli_stream *stream, ntr_params *params, int *fd) {
    ntr_params base;

    ntr_params_init(&base, NULL);
    const uint32_t known = ntr_perf_data_params(data, &base);
    if (cli_stream_params(stream, &base, params) != CLI_OK) return CLI_FAILED;
    const bool open = !known && (stream->infer || !cli_stream_given(stream)); /* nothing says the width of SRC */
    if (open && infer(data, path, images, stream, params) != CLI_OK) return CLI_FAILED;
    return write_stream(data, path, params, fd);
}

ntr_perf_data *cli_perf_open(const char *path, const struct cli_images *images, const struct cli_stream *stream,
                             ntr_params *params, int *fd) {
    static const struct cli_images none;
    ntr_perf_data *data;
    ntr_perf_data_new(NULL, &data);

    if (!data) {
        cli_fail("%s: out of memory", path);
        return NULL;
    }
    uint64_t id = 0;
    ntr_perf_data_set_limits(data, cli_limits());
    if (stream->trace_id && cli_parse_number(stream->trace_id, &id)) ntr_perf_data_set_trace_id(data, (unsigned)id);
    if (ntr_perf_data_open(data, path) != NTR_OK)
        cli_fail("%s", ntr_perf_data_error(data));
    else if (make_stream(data, path, images ? images : &none, stream, params, fd) == CLI_OK) {
        if (ntr_perf_data_is_damaged(data)) report_losses(data, path); /* also for commands that need no program */
        return data;
    }
    ntr_perf_data_free(data);
    return NULL;
}

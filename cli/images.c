#include "images.h"
#include "input.h"
#include "report.h"

#include <stdlib.h>
#include <string.h>

const struct cli_option cli_image_options[] = {
    CLI_LIST('e', "elf", "FILE[@ADDR][:ctx=N]", struct cli_images, list,
             "program image; @ADDR: loaded there (PIE, shared library), :ctx=N: seen in context N only; repeatable"),
    CLI_LIST(0, "raw", "FILE@ADDR[:ctx=N]", struct cli_images, list,
             "plain memory image that starts at ADDR; repeatable"),
    {0},
};

/* "FILE[@ADDR][:ctx=N]", taken apart from its end, so that paths may hold '@' and ':'. */
struct image {
    char *path; /* to be freed */
    bool has_address, has_context;
    uint64_t address, context;
};

static int image_parse(const struct cli_item *item, struct image *image) {
    char *path = strdup(item->value), *mark;

    *image = (struct image){.path = path};
    if (!path) return cli_fail("out of memory");
    mark = strstr(path, ":ctx=");
    if (mark) {
        if (!cli_parse_number(mark + 5, &image->context))
            return cli_fail("--%s: '%s': expected a number after ':ctx=', found '%s'", item->name, item->value,
                            mark + 5);
        image->has_context = true;
        *mark = 0;
    }
    mark = strrchr(path, '@');
    if (mark && cli_parse_number(mark + 1, &image->address)) {
        image->has_address = true;
        *mark = 0;
    }
    if (!*path) return cli_fail("--%s: '%s': expected a file name", item->name, item->value);
    return CLI_OK;
}

static int tell_refused(const char *path, const ntr_program *program, ntr_status status) {
    const char *why = ntr_program_error(program);

    return why && *why ? cli_fail("%s", why) : cli_fail("%s: %s", path, ntr_status_text(status));
}

/* Where the file's own addresses begin, cut to a page: what a loader maps to the load address. */
static int lowest_address(const char *path, uint64_t *low) {
    ntr_program *alone = ntr_program_new(NULL);
    ntr_image_info info;

    if (!alone) return cli_fail("out of memory");
    ntr_status status = ntr_program_add_elf(alone, path, NULL);
    int result = CLI_OK;
    if (status != NTR_OK)
        result = tell_refused(path, alone, status);
    else if (ntr_program_image(alone, 0, &info) == NTR_OK)
        *low = info.low & ~(uint64_t)0xfff;
    ntr_program_free(alone);
    return result;
}

static int add_elf(const struct image *image, ntr_image_options *options, ntr_program *program) {
    uint64_t low = 0;

    if (image->has_address && lowest_address(image->path, &low) != CLI_OK) return CLI_FAILED;
    options->bias = image->has_address ? image->address - low : 0;
    ntr_status status = ntr_program_add_elf(program, image->path, options);
    return status == NTR_OK ? CLI_OK : tell_refused(image->path, program, status);
}

static int add_raw(const struct image *image, ntr_image_options *options, ntr_program *program) {
    size_t size;

    if (!image->has_address) return cli_fail("--raw: '%s': expected FILE@ADDR, found no address", image->path);
    char *bytes = cli_input_whole(image->path, &size);
    if (!bytes) return CLI_FAILED;
    ntr_status status = ntr_program_add_raw(program, (ntr_bytes){(const uint8_t *)bytes, size}, options);
    free(bytes);
    return status == NTR_OK ? CLI_OK : cli_fail("%s: %s", image->path, ntr_status_text(status));
}

static int add_image(const struct cli_item *item, ntr_program *program) {
    struct image image;
    int status = image_parse(item, &image);

    if (status == CLI_OK) {
        ntr_image_options options = {
            .size = sizeof options,
            .bias = image.address,
            .has_scontext = image.has_context,
            .scontext = image.context,
        };
        status = (strcmp(item->name, "raw") == 0 ? add_raw : add_elf)(&image, &options, program);
    }
    free(image.path);
    return status;
}

int cli_images_load(const struct cli_images *images, ntr_program *program) {
    for (size_t i = 0; i < images->list.count; i++) {
        int status = add_image(&images->list.items[i], program);
        if (status != CLI_OK) return status;
    }
    return CLI_OK;
}

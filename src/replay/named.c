/* Searches for a function. At its address there can be other code at another time, or in another process: an execution
 * counts where the code has the name. */
#include "replay/state.h"

#include "analysis/find_functions.h"

void ntr_replay_set_function(ntr_replay *r, const char *name) {
    r->named = (ntr_replay_named){.name = name};
}

static bool image_has_name(const ntr_program *program, const ntr_image *image, uint64_t address, const char *name) {
    for (size_t i = 0; i < image->symbols.count; i++)
        if (image->symbols.names[i].address == address &&
            ntr_is_function_name(program, image->symbols.names[i].name, name))
            return true;
    return false;
}

/* The name is that of the image that has the code, or of one that has names alone. */
static bool has_name(const ntr_program *program, ntr_place place, const char *name) {
    size_t number;
    const bool known = ntr_program_image_at(program, place, &number) == NTR_OK;
    for (size_t i = 0; i < program->image_count; i++) {
        const ntr_image *image = &program->images[i];
        const bool visible = image->has_segments ? known && number == i : ntr_image_is_visible(image, place);
        if (visible && image_has_name(program, image, place.address, name)) return true;
    }
    return false;
}

bool ntr_replay_is_named(ntr_replay *r, const ntr_span_origin *origin, uint64_t address) {
    ntr_replay_named *named = &r->named;
    if (!named->name) return true;
    if (named->address == address && origin->offset >= named->valid.from && origin->offset <= named->valid.last &&
        ntr_context_equal(&named->context, &origin->context))
        return named->found;
    const ntr_place place = ntr_place_at(&origin->context, origin->offset, address);
    const char *const name = named->name;
    *named = (ntr_replay_named){.name = name,
                                .address = address,
                                .context = origin->context,
                                .valid = ntr_program_validity(r->decoder_config.program, place, address),
                                .found = has_name(r->decoder_config.program, place, name)};
    return named->found;
}

#include "capture/watch.h"
#include "capture/window.h"

void ntr_capture_watch_begin(struct ntr_capture_harts *harts, const ntr_capture_config *config) {
    struct channel_head *head = &harts->channel->head;
    const char *name = config->access_symbol;

    head->accesses = config->accesses;
    head->access_first = name ? 0 : config->access_first;
    head->access_last = name ? UINT64_MAX : config->access_last;
    harts->watched = (struct ntr_capture_place){.given = name, .name = name};
}

bool ntr_capture_watch_find(struct ntr_capture_harts *harts) {
    struct ntr_capture_place *object = &harts->watched;
    struct channel_head *head = &harts->channel->head;

    if (!object->address_known && ntr_capture_window_find(harts, object)) {
        head->access_first = object->address;
        head->access_last = object->address + object->size - 1;
    }
    return object->address_known && object->size;
}

bool ntr_capture_watches(struct ntr_capture_harts *harts, uint64_t address) {
    const struct ntr_capture_place *object = &harts->watched;
    return !object->given || (ntr_capture_watch_find(harts) && address - object->address < object->size);
}

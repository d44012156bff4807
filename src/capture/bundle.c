#include "capture/bundle.h"
#include "base/allocator.h"
#include "capture/harts.h"
#include "capture/mapped.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* What capture.json is made from. */
struct recorded {
    struct ntr_capture_record *record;
    const struct ntr_capture_report *report;
    struct ntr_capture_losses *losses;
    ntr_bundle_source *sources;
    size_t source_count;
};

/* ---- capture.json -------------------------------------------------------------------------------------------------
 */

/* What the only thread of a lane has called itself, in printable ASCII: a name may be cut inside of a character. */
static void read_name(const struct channel *channel, uint32_t lane, char name[CHANNEL_NAME]) {
    memcpy(name, channel->lanes[lane].name, CHANNEL_NAME);
    name[CHANNEL_NAME - 1] = 0;
    for (char *c = name; *c; c++)
        if (*c < ' ' || *c > '~') *c = '?';
}

static ntr_status add_sources(struct recorded *content) {
    const struct ntr_capture_harts *harts = content->report->harts;
    uint32_t count = ntr_capture_source_lanes(harts->channel);

    content->sources = ntr_alloc(content->record->allocator, count ? count : 1, sizeof *content->sources);
    if (!content->sources) return ntr_capture_fail_memory(content->record->reason);
    for (uint32_t i = 0; i < count; i++) {
        uint16_t src;
        if (!ntr_capture_harts_source(harts, i, &src)) continue;
        char own[CHANNEL_NAME];
        read_name(harts->channel, i, own);
        const char *name = *own ? ntr_capture_record_text(content->record, own) : content->report->process;
        if (*own && !name) return ntr_capture_fail_memory(content->record->reason);
        content->sources[content->source_count++] = (ntr_bundle_source){.src = src, .hart = i, .name = name};
    }
    return NTR_OK;
}

static void add_loss(struct recorded *content, bool when, const char *what) {
    struct ntr_capture_losses *losses = content->losses;

    if (when && what && losses->count < NTR_CAPTURE_LOSSES) losses->items[losses->count++].what = what;
}

/* The loss that a name was not found, which `format` has as %s. */
static void __attribute__((format(printf, 3, 0))) add_unknown(struct recorded *content, bool when, const char *format,
                                                              const char *name) {
    if (!when) return;
    const size_t size = strlen(format) + strlen(name);
    char *text = ntr_alloc(content->record->allocator, size, 1);
    if (text) snprintf(text, size, format, name);
    add_loss(content, true, ntr_capture_record_keep(content->record, text));
}

void ntr_capture_past_add(struct ntr_capture_past *past, const struct ntr_capture_harts *harts) {
    const struct channel_head *head = &harts->channel->head;

    past->programs++;
    past->forks += atomic_load(&head->forks);
    past->start_known |= harts->window.start.address_known;
    past->stop_known |= harts->window.stop.address_known;
    past->untraced |= harts->untraced;
    past->lost |= harts->lost;
    past->many |= atomic_load(&head->lanes) > CHANNEL_LANES;
    past->unknown |= harts->unknown;
    if (!past->discontinuities) past->expected = harts->expected, past->found = harts->found;
    past->discontinuities += harts->discontinuities;
    past->rewritten |= harts->rewritten;
    past->watched |= harts->watched.address_known && harts->watched.size;
}

/* Each is an interrupt in the trace that the program may not have had. */
static void add_discontinuities(struct recorded *content, const struct ntr_capture_past *all) {
    static const char text[] = "expected every block to follow the one before it or a trap, found %" PRIu64
                               " that do not, the first at 0x%" PRIx64 " instead of 0x%" PRIx64
                               ": a defect of the capture; the trace has interrupts there";
    enum { NUMBERS = 60 };

    if (!all->discontinuities) return;
    char *what = ntr_alloc(content->record->allocator, sizeof text + NUMBERS, 1);
    if (what) snprintf(what, sizeof text + NUMBERS, text, all->discontinuities, all->found, all->expected);
    add_loss(content, true, ntr_capture_record_keep(content->record, what));
}

/* Bytes that were executed are not those of the file. They are in the bundle, so that nothing is lost where a program
 * patches itself: the capture says it once, and the bundle does not repeat it. */
static void add_changed(struct recorded *content) {
    static const char text[] =
        "%s: expected the code of the file, found other bytes executed, first at 0x%" PRIx64 "; %s";
    static const char no_name[] = "functions of which a quarter of the bytes differ have no name";
    static const char patched[] = "the bundle has them, and its functions keep their names";
    const struct ntr_capture_record *record = content->record;
    enum { NUMBERS = 20 };

    if (!record->changed) return;
    const size_t room = sizeof text + sizeof patched + strlen(record->changed) + NUMBERS;
    char *what = ntr_alloc(record->allocator, room, 1);
    if (what) snprintf(what, room, text, record->changed, record->changed_at, record->changed_code ? no_name : patched);
    const char *kept = ntr_capture_record_keep(content->record, what);
    if (record->changed_code)
        add_loss(content, true, kept);
    else
        content->losses->patched = kept;
}

/* Why the part of the execution that is traced has not begun or ended. */
static void add_window_losses(struct recorded *content, const struct ntr_capture_past *all) {
    const struct ntr_capture_window *window = &content->report->harts->window;
    const bool waits = window->state == NTR_CAPTURE_WINDOW_WAITS,
               skips = waits && (window->skip || !window->start.given);
    const bool open = window->state == NTR_CAPTURE_WINDOW_OPEN && window->stop.given;

    add_loss(content, skips, "the program ended within the instructions that --skip leaves out; nothing was traced");
    add_unknown(content, waits && !skips && !all->start_known,
                "no file of the program has the symbol '%s' of --start-at; nothing was traced", window->start.name);
    add_loss(content, waits && !skips && all->start_known,
             "--start-at: expected the program to reach this place, found that it never did; nothing was traced");
    add_unknown(content, open && !all->stop_known, "no file of the program has the symbol '%s' of --stop-at",
                window->stop.name);
    add_loss(content, open && all->stop_known,
             "--stop-at: expected the program to reach this place, found that it never did; the trace goes to the end");
}

static void add_losses(struct recorded *content) {
    const struct ntr_capture_harts *harts = content->report->harts;
    const struct channel_head *head = &harts->channel->head;
    struct ntr_capture_past all = *content->report->past;

    ntr_capture_past_add(&all, harts);
    add_loss(content, content->report->dropped, "the stream has its maximal size; its first part was dropped");
    add_loss(content, content->report->missing, content->report->missing);
    add_window_losses(content, &all);
    add_unknown(content, harts->watched.given && !all.watched,
                "no file of the program has the object '%s' of --data-range; no load or store was traced",
                harts->watched.name);
    add_loss(content, all.forks > content->report->adopted,
             !content->report->config->follow_fork
                 ? "the program forked; its child processes were not traced"
                 : "some child processes were not traced: they ended at once, or the program has limited "
                   "its memory, its files or their size (setrlimit)");
    add_loss(content, atomic_load(&head->executing),
             "the program executed another program (execve), which was not traced");
    add_loss(content, all.untraced,
             "SRC is too narrow for all threads; the last ones were not traced (see --src-bits)");
    add_loss(content, all.lost, "the program has more code than the channel can hold; the trace ends early");
    add_loss(content, all.many, "more than 4096 threads at once; the last ones were not traced");
    add_loss(content, content->report->stuck,
             "the machine took traps without end and executed no instruction; the run was ended");
    add_loss(content, content->report->unnamed, content->report->unnamed);
    add_loss(
        content, all.unknown,
        "harts executed code while another one changed it; where QEMU did not tell what was executed, it is missing");
    add_discontinuities(content, &all);
    add_unknown(content, content->record->unread,
                "%s could not be read when it was mapped, or has too many segments; its code has no names",
                content->record->unread);
    add_changed(content);
    add_loss(content, all.rewritten, "code changed while the program ran; the bundle has the newest version only");
    for (size_t i = 0; harts->system && ntr_capture_system_loss(harts->system, i); i++)
        add_loss(content, true, ntr_capture_system_loss(harts->system, i));
}

/* The images that are valid in the kept part of the stream, with offsets in it. The caller frees the array. */
static ntr_bundle_image *kept_images(const struct recorded *content, size_t *count) {
    const struct ntr_capture_record *record = content->record;
    uint64_t dropped = content->report->dropped;
    ntr_bundle_image *images = ntr_alloc(record->allocator, record->image_count + 1, sizeof *images);

    *count = 0;
    for (size_t i = 0; images && i < record->image_count; i++) {
        ntr_bundle_image *image = &images[*count];
        *image = record->images[i];
        if (image->options.until && image->options.until <= dropped) continue;
        image->options.from -= image->options.from < dropped ? image->options.from : dropped;
        if (image->options.until) image->options.until -= dropped;
        ++*count;
    }
    return images;
}

/* How fast the CSR time of a machine of QEMU runs, in Hz; 0: not known. */
static uint64_t timebase_of(const char *name) {
    static const struct {
        const char *name;
        uint64_t frequency;
    } machines[] = {{"virt", 10000000}, {"spike", 10000000}, {"sifive_u", 1000000}};

    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
        if (strncmp(name, machines[i].name, strlen(machines[i].name)) == 0) return machines[i].frequency;
    return 0;
}

static ntr_status describe_with(struct recorded *content, const ntr_bundle_image *images, size_t image_count) {
    const struct ntr_capture_report *report = content->report;
    const struct ntr_capture_system *system = report->harts->system;
    const ntr_encoder_config *config = report->harts->config;
    bool timestamps = config->params.timestamps == NTR_TIMESTAMPS_ON;
    time_t now = time(NULL);
    struct tm utc;
    char date[32];

    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    ntr_capture_info capture = {
        .size = sizeof capture,
        .stream = report->stream,
        .params = config->params,
        .mode = config->mode == NTR_INST_MODE_BTM ? "btm" : "htm",
        .tool = report->config->tool,
        .target = report->guest->version,
        .date = date,
        .test = report->config->test,
        .begins_inside = system && ntr_capture_system_wrapped(system),
        .command = report->command,
        .status = (uint64_t)report->guest->status,
        .tick = system                   ? ntr_capture_system_tick(system)
                : !timestamps            ? NULL
                : report->machine->clock ? "time"
                                         : "instruction",
        .ticks_per_second = !system && timestamps && report->machine->clock ? timebase_of(report->machine->name) : 0,
        .sources = content->sources,
        .source_count = content->source_count,
        .images = images,
        .image_count = image_count,
        .losses = content->losses->items,
        .loss_count = content->losses->count,
    };
    /* Readers then need not find out whether there are timestamps. */
    if (!system && !timestamps) capture.params.timestamps = NTR_TIMESTAMPS_OFF;
    while (capture.command[capture.command_count]) capture.command_count++;
    ntr_status status = (report->missing ? ntr_bundle_save : ntr_bundle_finish)(content->record->bundle, &capture);
    return status == NTR_OK ? status : ntr_capture_record_fail(content->record, status);
}

static ntr_status describe(struct recorded *content) {
    size_t count;
    ntr_bundle_image *images = kept_images(content, &count);

    if (!images) return ntr_capture_fail_memory(content->record->reason);
    ntr_status status = describe_with(content, images, count);
    ntr_dealloc(content->record->allocator, images);
    return status;
}

static ntr_status fill(struct recorded *content) {
    const struct ntr_capture_harts *harts = content->report->harts;
    struct ntr_capture_record *record = content->record;

    const char *maps = harts->channel->maps;
    size_t size = (size_t)atomic_load(&harts->channel->head.maps);
    ntr_status status = ntr_capture_record_files(record, maps, size);
    if (status == NTR_OK && !content->report->missing)
        status = ntr_capture_record_names(record, maps, size,
                                          atomic_load(&harts->channel->head.map_is_left) ? 0 : content->report->pid);
    if (status == NTR_OK) status = ntr_capture_record_code(record, &harts->code);
    if (status == NTR_OK) status = add_sources(content);
    if (status != NTR_OK) return status;
    add_losses(content);
    return describe(content);
}

ntr_status ntr_capture_bundle_save(struct ntr_capture_record *record, const struct ntr_capture_report *report,
                                   struct ntr_capture_code *code) {
    struct ntr_capture_losses losses = {.count = 0};
    struct recorded content = {.record = record, .report = report, .losses = &losses};
    struct ntr_capture_code_mark mark;
    unsigned part = record->part;

    if (!ntr_capture_code_pause(code, &mark)) return ntr_capture_fail_memory(record->reason);
    record->partial = true;
    ntr_status status = fill(&content);
    record->partial = false;
    if (status == NTR_OK) ntr_capture_record_drop_part(record, part);
    while (record->image_count && record->images[record->image_count - 1].kind == NTR_BUNDLE_RAW &&
           record->image_count > record->first)
        record->image_count--; /* code is written anew the next time */
    ntr_capture_code_resume(code, &mark);
    ntr_dealloc(record->allocator, content.sources);
    return status;
}

ntr_status ntr_capture_bundle_finish(struct ntr_capture_record *record, const struct ntr_capture_report *report,
                                     struct ntr_capture_losses *losses) {
    struct recorded content = {.record = record, .report = report, .losses = losses};

    ntr_status status = fill(&content);
    if (status == NTR_OK) ntr_capture_record_drop_part(record, record->part);
    ntr_dealloc(record->allocator, content.sources);
    return status;
}

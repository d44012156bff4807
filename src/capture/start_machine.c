/* A whole machine: the command line of QEMU's system mode. */
#include "base/allocator.h"
#include "capture/guest_files.h"
#include "capture/htif.h"
#include "capture/mapped.h"
#include "capture/session.h"
#include "program/btf.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct machine_arguments {
    char **items; /* ends with NULL */
    size_t count;
};

enum { MACHINE_ARGUMENTS = 48 }; /* room for the arguments of add_all */

static void add(struct machine_arguments *arguments, const char *argument) {
    arguments->items[arguments->count++] = (char *)(uintptr_t)argument; /* exec takes char *, and does not write */
}

static void add_pair(struct machine_arguments *arguments, const char *name, const char *value) {
    if (!value) return;
    add(arguments, name);
    add(arguments, value);
}

/* Is one of these among the caller's options? */
static bool has_option(const ntr_capture_config *config, const char *const *names, size_t count) {
    for (size_t i = 0; i < config->qemu_option_count; i++) {
        for (size_t k = 0; k < count; k++)
            if (strcmp(config->qemu_options[i], names[k]) == 0) return true;
    }
    return false;
}

/* Without it QEMU looks for sound at its start, in modules that may be those of another QEMU. */
static void add_sound(struct machine_arguments *arguments, const ntr_capture_config *config) {
    static const char *const names[] = {"-audio", "-audiodev", "-nodefaults"};

    if (!has_option(config, names, sizeof names / sizeof *names)) add_pair(arguments, "-audio", "none");
}

/* The console is the terminal; an interrupt from the keyboard ends QEMU. */
static void add_console(struct machine_arguments *arguments, const ntr_capture *session) {
    /* Options of the caller that say where the console goes. */
    static const char *const names[] = {"-nographic", "-serial", "-monitor", "-display", "-chardev"};

    if (has_option(&session->config, names, sizeof names / sizeof *names)) return;
    add_pair(arguments, "-display", "none");
    add_pair(arguments, "-monitor", "none");
    if (session->machine.repeatable) {
        add_pair(arguments, "-serial", "file:/dev/stdout"); /* takes no input */
        return;
    }
    add_pair(arguments, "-chardev", "stdio,id=ntrace-console,signal=on");
    add_pair(arguments, "-serial", "chardev:ntrace-console");
}

/* Machines that start at what -kernel names, and have no firmware. */
static bool starts_at_kernel(const char *name) {
    static const char *const names[] = {"sifive_e", "opentitan"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0) return true;
    return false;
}

static void add_time(struct machine_arguments *arguments, const ntr_capture_machine_config *machine) {
    if (machine->repeatable) {
        add_pair(arguments, "-icount", "shift=3,sleep=off");
        add_pair(arguments, "-seed", "1");
        add_pair(arguments, "-rtc", "base=2026-01-01T00:00:00,clock=vm");
    } else if (machine->harts > 1) {
        add_pair(arguments, "-accel", "tcg,thread=multi"); /* else QEMU gives plugins wrong hart numbers */
    }
}

/* Do all harts run in one thread? QEMU then does not report to plugins when it stops them. */
static bool is_one_thread(const ntr_capture *session) {
    const ntr_capture_config *config = &session->config;

    for (size_t i = 0; i < config->qemu_option_count; i++) {
        if (strcmp(config->qemu_options[i], "-icount") == 0 || strstr(config->qemu_options[i], "thread=single"))
            return true;
    }
    return session->machine.repeatable;
}

struct texts {
    char plugin[3 * PATH_MAX], log[64], harts[16];
    char copy[64];
    const char *firmware; /* its path, or that of a changed copy */
};

static void add_all(struct machine_arguments *arguments, const ntr_capture *session, const struct texts *texts) {
    const ntr_capture_config *config = &session->config;
    const ntr_capture_machine_config *machine = &session->machine;
    bool bare = starts_at_kernel(machine->name);

    add(arguments, config->qemu);
    add_pair(arguments, "-machine", machine->name);
    add_pair(arguments, "-cpu", config->cpu);
    add_pair(arguments, "-m", machine->memory);
    add_pair(arguments, "-smp", machine->harts > 1 ? texts->harts : NULL);
    add_time(arguments, machine);
    add_console(arguments, session);
    add_sound(arguments, &session->config);
    add_pair(arguments, bare && !machine->kernel ? "-kernel" : "-bios", texts->firmware);
    add_pair(arguments, "-kernel", machine->kernel);
    add_pair(arguments, "-initrd", machine->initrd);
    add_pair(arguments, "-append", machine->append);
    for (size_t i = 0; i < config->qemu_option_count; i++) add(arguments, config->qemu_options[i]);
    add_pair(arguments, "-d", "int,cpu_reset");
    add_pair(arguments, "-D", texts->log);
    add_pair(arguments, "-plugin", texts->plugin);
}

static void name_firmware(struct ntr_capture *session, struct texts *texts) {
    const ntr_capture_machine_config *machine = &session->machine;

    texts->firmware = machine->firmware;
    if (!machine->firmware || strncmp(machine->name, "spike", strlen("spike")) != 0) return;
    session->firmware = ntr_capture_htif_copy(machine->firmware);
    if (session->firmware <= 0) return;
    snprintf(texts->copy, sizeof texts->copy, "/proc/%d/fd/%d", (int)getpid(), session->firmware);
    texts->firmware = texts->copy;
}

static ntr_status make_texts(struct ntr_capture *session, struct texts *texts) {
    char path[PATH_MAX];

    if (!realpath(session->machine.plugin, path))
        return ntr_capture_fail_errno(&session->reason, session->machine.plugin);
    if (strchr(path, ','))
        return ntr_capture_fail(&session->reason, NTR_E_INVALID, "%s: QEMU takes no plugin with a comma in its path",
                                path);
    session->log = memfd_create("ntrace-log", MFD_CLOEXEC);
    if (session->log < 0) return ntr_capture_fail_errno(&session->reason, "shared memory");
    snprintf(texts->log, sizeof texts->log, "/proc/%d/fd/%d", (int)getpid(), session->log);
    snprintf(texts->plugin, sizeof texts->plugin, "%s,channel=/proc/%d/fd/%d,log=%s%s", path, (int)getpid(),
             session->source.file, texts->log, is_one_thread(session) ? ",marks=all" : "");
    snprintf(texts->harts, sizeof texts->harts, "%u", session->machine.harts);
    name_firmware(session, texts);
    return NTR_OK;
}

ntr_status ntr_capture_machine_options(struct ntr_capture *session, char *text, size_t size) {
    struct texts texts;
    ntr_status status = make_texts(session, &texts);

    if (status != NTR_OK) return status;
    const char *marks = is_one_thread(session) ? "" : ",marks=all"; /* how QEMU runs its harts is not known */
    const int length = snprintf(text, size, "-d int,cpu_reset -D %s -plugin %s%s", texts.log, texts.plugin, marks);
    return length < 0 || (size_t)length >= size ? NTR_E_LIMIT : NTR_OK;
}

ntr_status ntr_capture_machine_start(struct ntr_capture *session) {
    const ntr_allocator *allocator = session->config.allocator;
    struct texts texts = {0};
    ntr_status status = make_texts(session, &texts);

    if (status != NTR_OK) return status;
    struct machine_arguments arguments = {
        .items = ntr_alloc(allocator, MACHINE_ARGUMENTS + session->config.qemu_option_count, sizeof(char *))};
    if (!arguments.items) return ntr_capture_fail_memory(&session->reason);
    add_all(&arguments, session, &texts);
    status = ntr_capture_guest_spawn(&session->guest, arguments.items, &session->reason);
    ntr_dealloc(allocator, arguments.items);
    return status;
}

ntr_status ntr_capture_machine_files(struct ntr_capture *session) {
    const ntr_capture_machine_config *machine = &session->machine;
    ntr_status status = NTR_OK;

    if (machine->firmware) status = ntr_capture_record_elf(&session->record, machine->firmware, 0);
    if (machine->kernel && status == NTR_OK) status = ntr_capture_record_elf(&session->record, machine->kernel, 0);
    return status;
}

void ntr_capture_machine_types(struct ntr_capture *session) {
    enum { TASK_MOST = 1 << 16 }; /* bytes of a task_struct, at the most */
    struct channel_head *head = &session->source.channel->head;
    uint32_t name, pid, tgid;
    ntr_bytes kernel, types;

    if (!session->machine.kernel || !ntr_guest_file_map(session->machine.kernel, &kernel)) return;
    if (ntr_btf_find(kernel, &types) && ntr_btf_member(types, "task_struct", "comm", &name) &&
        ntr_btf_member(types, "task_struct", "pid", &pid) && ntr_btf_member(types, "task_struct", "tgid", &tgid) &&
        name < TASK_MOST && pid < TASK_MOST && tgid < TASK_MOST) {
        head->task_name = name;
        head->task_pid = pid;
        head->task_tgid = tgid;
    }
    ntr_guest_files_release(&kernel);
}

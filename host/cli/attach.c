/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parasite attach: samples of a guest that need not know of it.
 *
 * Source of QMP: "QEMU QMP Reference Manual".
 */

#include "attach/sampler.h"
#include "attach/show.h"
#include "base/bytes.h"
#include "base/log.h"
#include "base/text.h"
#include "base/wait.h"
#include "cli/arguments.h"
#include "gdb/stub.h"
#include "image/find.h"
#include "input/capture.h"
#include "input/qemu.h"
#include "input/request.h"
#include "input/target.h"
#include "unwind/unwind.h"
#include "xen/xen.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define HZ_USUAL 99
#define DEPTH_USUAL 64
#define TIMEOUT_USUAL 10 /* seconds */
#define FOR_EVER 1e9     /* the same */

static const char by_gdb[] = "gdb:", by_qmp[] = "qmp:";

static int connect_after(const char *scheme, const char *target)
{
    struct target found;
    char uri[512];

    target += strlen(scheme);
    snprintf(uri, sizeof uri, "%s%s",
             strncmp(target, "unix:", 5) == 0 ? "" : "tcp:", target);
    target_open(&found, uri, TARGET_STREAM);
    return found.file;
}

static bool is_of(const char *scheme, const char *target)
{
    return strncmp(target, scheme, strlen(scheme)) == 0;
}

static int attach_connect(const char *target)
{
    if (!is_of(by_gdb, target))
        die_usage("%s: expected gdb:HOST:PORT, gdb:unix:PATH or xen:DOMID",
                  target);
    return connect_after(by_gdb, target);
}

/* ---- by the stub */

static int resume_by_stub(const char *target, double timeout)
{
    static struct stub stub;
    bool known, held;
    int file;

    signals_catch(); /* to be connected stops a guest */
    file = attach_connect(target);
    if (!stub_begin(&stub, file, timeout))
        die("%s: %s", target, machine_reason_text(&stub.machine));
    known = stub.is_qemu;
    held = stub.machine.held;
    stub.machine.held = false;
    machine_end(&stub.machine);
    if (stub.machine.reason != MACHINE_LIVES)
        die("%s: %s", target, machine_reason_text(&stub.machine));
    printf("the guest runs; %s\n",
           !known ? "this stub does not say whether it was paused before"
           : held ? "it was paused before"
                  : "it was not paused before");
    return STATUS_OK;
}

/* ---- by the monitor */

struct monitor {
    const char *target;
    int file;
    double deadline; /* of the present answer */
    size_t used;
    char bytes[1 << 16];
};

static _Noreturn void die_of(const struct monitor *monitor, const char *what)
{
    die("%s: %s", monitor->target, what);
}

/* Whether a whole line is there; moved to (line), whose room is that of all. */
static bool take_line(struct monitor *monitor, char *line)
{
    const char *end = memchr(monitor->bytes, '\n', monitor->used);
    size_t bytes = end != NULL ? (size_t)(end - monitor->bytes) + 1 : 0;

    if (bytes == 0)
        return false;
    memcpy(line, monitor->bytes, bytes);
    line[bytes - 1] = '\0';
    monitor->used -= bytes;
    memmove(monitor->bytes, monitor->bytes + bytes, monitor->used);
    return true;
}

/* The next line that is an object with (key). */
static json_t *receive_line(struct monitor *monitor, const char *key)
{
    static char line[sizeof monitor->bytes];

    for (;;) {
        while (take_line(monitor, line)) {
            json_t *object = json_loads(line, 0, NULL);
            const json_t *error = json_object_get(object, "error");
            const char *text =
                json_string_value(json_object_get(error, "desc"));

            if (error != NULL)
                die_of(monitor, text != NULL ? text : "an error");
            if (json_object_get(object, key) != NULL)
                return object;
            json_decref(object);
        }
        if (monitor->used == sizeof monitor->bytes)
            die_of(monitor, "this is no monitor");
        if (seconds_now() >= monitor->deadline ||
            !wait_readable(monitor->file, monitor->deadline, 0))
            die_of(monitor, "the monitor does not answer; QEMU serves one "
                            "client of it at a time");
        ssize_t count =
            recv(monitor->file, monitor->bytes + monitor->used,
                 sizeof monitor->bytes - monitor->used, MSG_DONTWAIT);

        if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR))
            die_of(monitor, "the connection was closed");
        monitor->used += count > 0 ? (size_t)count : 0;
    }
}

static json_t *ask(struct monitor *monitor, double timeout, const char *command)
{
    char text[128];
    int bytes = snprintf(text, sizeof text, "{\"execute\": \"%s\"}\n", command);

    monitor->deadline = seconds_now() + timeout;
    if (send(monitor->file, text, (size_t)bytes, MSG_NOSIGNAL | MSG_DONTWAIT) !=
        bytes)
        die_of(monitor, strerror(errno));
    return receive_line(monitor, "return");
}

/* Whether the guest runs; its status, as QEMU calls it, goes to (status). */
static bool runs(struct monitor *monitor, double timeout, char *status,
                 size_t room)
{
    json_t *object = ask(monitor, timeout, "query-status");
    const json_t *answer = json_object_get(object, "return");
    const char *text = json_string_value(json_object_get(answer, "status"));
    bool running = json_is_true(json_object_get(answer, "running"));

    snprintf(status, room, "%s", text != NULL ? text : "not known");
    json_decref(object);
    return running;
}

static int resume_by_monitor(const char *target, double timeout)
{
    static struct monitor monitor;
    char before[64], now[64];
    bool running;

    monitor.target = target;
    monitor.file = connect_after(by_qmp, target);
    monitor.deadline = seconds_now() + timeout;
    json_decref(receive_line(&monitor, "QMP"));
    json_decref(ask(&monitor, timeout, "qmp_capabilities"));
    if (runs(&monitor, timeout, before, sizeof before)) {
        puts("the guest runs; it was not paused before");
        return STATUS_OK;
    }
    json_decref(ask(&monitor, timeout, "cont"));
    running = runs(&monitor, timeout, now, sizeof now);
    printf("the guest %s; it was paused before (",
           running ? "runs" : "does not run");
    printable_put(stdout, running ? before : now);
    puts(")");
    return running ? STATUS_OK : STATUS_DATA;
}

/* Lets the guest of such a target, or of a monitor, qmp:HOST:PORT or
 * qmp:unix:PATH, go on, and prints what it was found to do. Each answer may
 * take (timeout) seconds. Returns the exit status. */
static int attach_resume(const char *target, double timeout)
{
    if (is_of(by_qmp, target))
        return resume_by_monitor(target, timeout);
    if (is_of(by_gdb, target))
        return resume_by_stub(target, timeout);
    if (is_of("xen:", target))
        die_usage("%s: 'xl unpause %s' lets it go on", target, target + 4);
    die_usage("%s: --resume takes gdb:HOST:PORT, gdb:unix:PATH, qmp:HOST:PORT "
              "or qmp:unix:PATH",
              target);
}

/* ---- the options */

static struct attach {
    const char *target;
    const char *image; /* or several */
    const char *output;
    const char *ram;
    char **guest;
    double timeout;
    bool once;
    bool resume;
    bool stub; /* even if there is a ring */
    struct sampler sampler;
} attach = {.output = "x.trace",
            .timeout = TIMEOUT_USUAL,
            .sampler = {.hz = HZ_USUAL, .depth = DEPTH_USUAL, .packets = -1}};

static const char help_text[] =
    "Sample a guest from outside, with nothing in it: its VMM stops it for "
    "each "
    "sample. The trace is like one of 'parasite record'."
    "\vTARGET is gdb:HOST:PORT or gdb:unix:PATH, where a VMM listens for GDB: "
    "QEMU does with -gdb tcp::1234, or -s; or xen:DOMID, as root where Xen's "
    "domains are controlled. The command line after -- starts "
    "QEMU with a connection of its own; its exit code becomes that of attach."
    "\n\nFor example:\n"
    "  parasite attach -F 999 -d 10 -k vmlinux gdb:localhost:1234\n"
    "  parasite attach --once -k image.elf gdb:unix:gdb.sock\n"
    "  parasite attach -d 10 -- qemu-system-x86_64 -kernel image.elf \\\n"
    "    -display none";

static void set_rate(char *word)
{
    attach.sampler.hz = request_number("-F", word);
}

static void set_duration(char *word)
{
    attach.sampler.seconds = request_number("-d", word);
}

static void add_image(char *word)
{
    attach.image = image_paths_add(attach.image, word);
}

static void set_depth(char *word)
{
    attach.sampler.depth =
        (unsigned)arguments_whole("--depth", word, 0, UNWIND_FRAMES_MAX - 1);
}

/* "0.5%" or "0.005". */
static void set_budget(char *word)
{
    char *end;
    double share = strtod(word, &end);

    if (*end == '%') {
        share /= 100;
        ++end;
    }
    if (end == word || *end != '\0' || !(share > 0 && share <= 1))
        die_usage("--pause-budget takes a share such as 0.5%%, not '%s'", word);
    attach.sampler.budget = share;
}

static void set_packets(char *word)
{
    attach.sampler.packets = (int)request_number("--packets", word);
}

static void set_timeout(char *word)
{
    attach.timeout = request_number("--timeout", word);
}

static bool take_target(char *word)
{
    if (attach.target != NULL)
        die_usage("one target at a time: '%s' or '%s'?", attach.target, word);
    attach.target = word;
    return true;
}

static const struct argument options[] = {
    {"freq", 'F', "HZ", "sample HZ times a second (99)", .take = set_rate},
    {"duration", 'd', "SECONDS", "stop after SECONDS", .take = set_duration},
    {NULL, 'T', "SECONDS", NULL, .take = set_duration, .hidden = true},
    {"kernel", 'k', "IMAGE",
     "the ELF image that the guest runs, for callers and names, or a list of "
     "symbols of nm, objdump or /proc/kallsyms; may be repeated",
     .take = add_image},
    {"output", 'o', "TRACE", "the folder to write (x.trace)",
     .text = &attach.output},
    {"depth", 0, "N", "at most N callers, 0 to 127 (64)", .take = set_depth},
    {"pause-budget", 0, "SHARE",
     "sample less often, so that the guest is paused for no more than this "
     "share of the time, such as 0.5%",
     .take = set_budget},
    {"once", 0, NULL,
     "print registers, code, stack and callers of every CPU instead",
     .flag = &attach.once},
    {"packets", 0, "NUMBER", /* for top */
     "write packets to this open file instead of a trace", .take = set_packets,
     .hidden = true},
    {"ram", 0, "FILE",
     "read stacks from the guest's RAM, a memory-backend-file with share=on",
     .text = &attach.ram},
    {"resume", 0, NULL,
     "only let a guest go on that was left paused; TARGET may also be QEMU's "
     "monitor, qmp:HOST:PORT or qmp:unix:PATH",
     .flag = &attach.resume},
    {"stub", 0, NULL,
     "use the stub even if the guest's own profiler writes to FILE",
     .flag = &attach.stub},
    {"timeout", 0, "SECONDS", "give up when an answer takes longer (10)",
     .take = set_timeout},
    {"quiet", 'q', NULL, "no messages except errors", .flag = &log_quiet,
     .group = 1},
    {"verbose", 'v', NULL, "also say what is done", .flag = &log_is_verbose,
     .group = 1},
    {0},
};

static const struct command_line line = {options, "TARGET\n-- QEMU-COMMAND...",
                                         help_text, .take = take_target};

/* ---- sampling */

static bool is_xen(void)
{
    return attach.target != NULL && strncmp(attach.target, "xen:", 4) == 0;
}

static void check_options(void)
{
    if (attach.guest == NULL && attach.target == NULL)
        die_usage("name a target, gdb:HOST:PORT, gdb:unix:PATH or xen:DOMID, "
                  "or a QEMU command line after --");
    if (attach.guest != NULL && attach.target != NULL)
        die_usage("'%s' and the guest after --: which one?", attach.target);
    if (attach.resume && attach.target == NULL)
        die_usage("--resume is for a guest that runs already");
    if (attach.guest != NULL && attach.image == NULL)
        attach.image = guest_word(attach.guest, "-kernel");
    if (is_xen() && attach.ram != NULL)
        die_usage("--ram: the RAM of %s is read anyway", attach.target);
}

static bool alive(void *owner)
{
    return guest_runs(owner);
}

static const char *ways(void)
{
    return attach.image != NULL
               ? "callers by the image, and by frame pointers"
               : "callers by frame pointers only; -k IMAGE knows more";
}

static void print_method(const struct stub *stub)
{
    log_info("%s, %zu CPU%s, %s; %s%s",
             stub->is_qemu ? "QEMU's stub, one round trip for each sample"
                           : "a stub for GDB, several round trips for each "
                             "sample",
             stub->machine.cpu_count, stub->machine.cpu_count == 1 ? "" : "s",
             stub->machine.is_64 ? "x86_64" : "i386",
             attach.ram != NULL ? "stacks from shared RAM; " : "", ways());
}

static int print_once(struct image *image)
{
    struct sampler *sampler = &attach.sampler;
    enum machine_stop stop = machine_stop(sampler->machine);

    if (stop == MACHINE_ENDED || stop == MACHINE_TORN)
        die("%s", machine_reason_text(sampler->machine));
    show_cpus(stdout, sampler, attach.image != NULL ? image : NULL);
    return STATUS_OK;
}

static int sample_guest(void)
{
    struct sampler *sampler = &attach.sampler;
    enum machine_reason reason;
    bool failed;

    sampler_run(sampler, attach.output);
    reason = sampler->machine->reason;
    failed = reason != MACHINE_LIVES && reason != MACHINE_EXITED &&
             reason != MACHINE_GONE;
    if (failed || (reason != MACHINE_LIVES && attach.guest == NULL))
        log_error("%s after %llu samples",
                  machine_reason_text(sampler->machine),
                  (unsigned long long)sampler->samples);
    sampler_report(sampler);
    return failed ? STATUS_DATA : STATUS_OK;
}

static bool find_ring(const struct image *image, uint64_t *address)
{
    struct ram ram = {0};
    const uint8_t *magic;
    bool found;

    if (attach.ram == NULL || attach.image == NULL || attach.once ||
        attach.stub || attach.guest != NULL ||
        !image_object(image, "prof_share_ring", address) ||
        !ram_open(&ram, attach.ram))
        return false;
    magic = ram_below(&ram, *address, sizeof(uint64_t));
    found = magic != NULL && le64(magic) == PROF_SHARE_MAGIC;
    ram_close(&ram);
    return found;
}

/* Reads the ring at (address), at the guest's own rate. */
static int read_ring(struct image *image, uint64_t address)
{
    static struct capture capture;
    const struct target target = {
        .is_ram = true, .path = attach.ram, .file = -1};

    log_info("the ring of the guest's own profiler in %s, which is read "
             "without a stop, at its own rate; --stub samples from outside",
             attach.ram);
    capture.image = image;
    capture.boots.image = attach.sampler.boots.image;
    capture.seconds =
        attach.sampler.seconds > 0 ? attach.sampler.seconds : FOR_EVER;
    capture_begin(&capture, attach.output);
    capture_run(&capture, &target, NULL, address);
    capture_end(&capture);
    if (!capture.refused && capture.boots.list[0]->writer.index.count == 0)
        die("no packets came in that time");
    return capture.refused ? STATUS_DATA : STATUS_OK;
}

static int sample_or_print(struct image *image)
{
    struct sampler *sampler = &attach.sampler;
    int code;

    sampler->unwinder = unwind_open(attach.image != NULL ? image : NULL);
    code = attach.once ? print_once(image) : sample_guest();
    unwind_close(sampler->unwinder);
    return code;
}

static int run_xen(struct image *image)
{
    static struct xen xen;
    int code;

    signals_catch();
    xen_attach(&xen, attach.target);
    xen.takes_dead = attach.once;
    log_info("Xen, two calls for each sample, %zu CPU%s, %s; stacks from "
             "mapped RAM; %s",
             xen.machine.cpu_count, xen.machine.cpu_count == 1 ? "" : "s",
             xen_kind(&xen), ways());
    attach.sampler.machine = &xen.machine;
    code = sample_or_print(image);
    machine_end(&xen.machine);
    return code;
}

static int run_stub(struct image *image)
{
    static struct stub stub;
    struct sampler *sampler = &attach.sampler;
    struct guest guest = {.stream = -1};
    int file, code;

    signals_catch(); /* to be connected stops a guest */
    if (attach.guest != NULL) {
        guest_start(&guest, attach.guest, GUEST_STUB, 0, -1);
        file = guest.stream;
        sampler->alive = alive;
        sampler->owner = &guest;
    } else {
        file = attach_connect(attach.target);
    }
    if (!stub_begin(&stub, file, attach.timeout)) {
        if (attach.guest != NULL)
            guest_stop(&guest); /* prints what QEMU said */
        die("%s: %s", attach.target != NULL ? attach.target : "QEMU",
            machine_reason_text(&stub.machine));
    }
    if (attach.guest != NULL)
        stub.machine.held = false; /* by -S, for us */
    if (attach.ram != NULL && !ram_open(&sampler->ram, attach.ram))
        die("%s: cannot be read: %s", attach.ram, strerror(errno));
    if (attach.ram != NULL && stub.layout.places[REGISTER_CR3].bytes == 0)
        die("--ram: the stub does not send cr3, which pages are found by");
    sampler->machine = &stub.machine;
    print_method(&stub);
    code = sample_or_print(image);
    ram_close(&sampler->ram);
    machine_end(&stub.machine);
    if (attach.guest != NULL) {
        guest.stream = -1;
        guest_stop(&guest);
        code = code != STATUS_OK ? code : guest_code(&guest);
        guest_free(&guest);
    }
    return code;
}

int command_attach(int argc, char **argv)
{
    struct request split = REQUEST_NOTHING;
    static struct image image;
    uint64_t ring;

    argc = request_split(&split, argc, argv);
    attach.guest = split.guest;
    arguments_parse(&line, argc, argv);
    check_options();
    if (attach.resume)
        return attach_resume(attach.target, attach.timeout);
    if (attach.image != NULL) {
        image_open(&image, attach.image);
        attach.sampler.image = &image;
        attach.sampler.boots.image = image_paths_real(attach.image);
        attach.sampler.boots.symbols =
            image_remember(&image, &attach.sampler.boots.symbols_bytes);
    }
    if (find_ring(&image, &ring))
        return read_ring(&image, ring);
    return is_xen() ? run_xen(&image) : run_stub(&image);
}

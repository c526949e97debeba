/* SPDX-License-Identifier: Apache-2.0 */
/* parasite attach: samples of a guest that need not know of it. */

#include "attach/once.h"
#include "attach/sampler.h"
#include "base/bytes.h"
#include "base/log.h"
#include "base/signals.h"
#include "cli/arguments.h"
#include "cli/attach_resume.h"
#include "cli/attach_words.h"
#include "cli/commands.h"
#include "image/find.h"
#include "input/capture.h"
#include "input/qemu.h"
#include "input/request.h"
#include "input/target.h"
#include "gdb/stub.h"
#include "xen/xen.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HZ_USUAL 99
#define DEPTH_USUAL 64
#define TIMEOUT_USUAL 10 /* seconds */
#define FOR_EVER 1e9     /* the same */

struct attach {
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
};

enum {
    KEY_BUDGET = 1024,
    KEY_DEPTH,
    KEY_ONCE,
    KEY_PACKETS,
    KEY_RAM,
    KEY_RESUME,
    KEY_STUB,
    KEY_TIMEOUT
};

static const char help_text[] =
    "Sample a guest from outside, with nothing in it: its VMM stops it for "
    "each "
    "sample. The trace is like one of 'parasite record'."
    "\vTARGET is gdb:HOST:PORT or gdb:unix:PATH, where a VMM listens for GDB: "
    "QEMU does with -gdb tcp::1234, or -s; or xen:DOMID, as root where Xen's "
    "domains are controlled. The command line after -- starts "
    "QEMU with a connection of its own; its exit code becomes that of attach."
    "\n\nFor example:\n"
    "  parasite attach -F 999 -T 10 -k vmlinux gdb:localhost:1234\n"
    "  parasite attach --once -k image.elf gdb:unix:gdb.sock\n"
    "  parasite attach -T 10 -- qemu-system-x86_64 -kernel image.elf \\\n"
    "    -display none";

static const struct argp_option options[] = {
    {"freq", 'F', "HZ", 0, "sample HZ times a second (99)", 0},
    {"duration", 'T', "SECONDS", 0, "stop after SECONDS", 0},
    {"kernel", 'k', "IMAGE", 0,
     "the ELF image that the guest runs, for callers and names, or a list of "
     "symbols like /proc/kallsyms; may be repeated",
     0},
    {"output", 'o', "TRACE", 0, "the folder to write (x.trace)", 0},
    {"depth", KEY_DEPTH, "N", 0, "at most N callers, 0 to 127 (64)", 0},
    {"pause-budget", KEY_BUDGET, "SHARE", 0,
     "sample less often, so that the guest is paused for no more than this "
     "share of the time, such as 0.5%",
     0},
    {"once", KEY_ONCE, NULL, 0, "print the stack of every CPU instead", 0},
    {"packets", KEY_PACKETS, "NUMBER", OPTION_HIDDEN, /* for top */
     "write packets to this open file instead of a trace", 0},
    {"ram", KEY_RAM, "FILE", 0,
     "read stacks from the guest's RAM, a memory-backend-file with share=on",
     0},
    {"resume", KEY_RESUME, NULL, 0,
     "only let a guest go on that was left paused; TARGET may also be QEMU's "
     "monitor, qmp:HOST:PORT or qmp:unix:PATH",
     0},
    {"stub", KEY_STUB, NULL, 0,
     "use the stub even if the guest's own profiler writes to FILE", 0},
    {"timeout", KEY_TIMEOUT, "SECONDS", 0,
     "give up when an answer takes longer (10)", 0},
    {"quiet", 'q', NULL, 0, "no messages except errors", 1},
    {"verbose", 'v', NULL, 0, "also say what is done", 1},
    {0},
};

static error_t parse_sampling(int key, char *word, struct sampler *sampler)
{
    switch (key) {
    case 'F':
        sampler->hz = request_number("-F", word);
        break;
    case 'T':
        sampler->seconds = request_number("-T", word);
        break;
    case KEY_PACKETS:
        sampler->packets = (int)request_number("--packets", word);
        break;
    case KEY_DEPTH:
        sampler->depth = attach_depth(word);
        break;
    case KEY_BUDGET:
        sampler->budget = attach_share(word);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static error_t parse(int key, char *word, struct argp_state *state)
{
    struct attach *attach = state->input;

    switch (key) {
    case 'k':
        attach->image = image_paths_add(attach->image, word);
        break;
    case 'o':
        attach->output = word;
        break;
    case KEY_ONCE:
        attach->once = true;
        break;
    case KEY_RAM:
        attach->ram = word;
        break;
    case KEY_RESUME:
        attach->resume = true;
        break;
    case KEY_STUB:
        attach->stub = true;
        break;
    case KEY_TIMEOUT:
        attach->timeout = request_number("--timeout", word);
        break;
    case 'q':
        log_quiet = true;
        break;
    case 'v':
        log_is_verbose = true;
        break;
    case ARGP_KEY_ARG:
        if (attach->target != NULL)
            die_usage("one target at a time: '%s' or '%s'?", attach->target,
                      word);
        attach->target = word;
        break;
    default:
        return parse_sampling(key, word, &attach->sampler);
    }
    return 0;
}

static bool is_xen(const struct attach *attach)
{
    return attach->target != NULL && strncmp(attach->target, "xen:", 4) == 0;
}

static void check(struct attach *attach)
{
    if (attach->guest == NULL && attach->target == NULL)
        die_usage("name a target, gdb:HOST:PORT, gdb:unix:PATH or xen:DOMID, "
                  "or a QEMU command line after --");
    if (attach->guest != NULL && attach->target != NULL)
        die_usage("'%s' and the guest after --: which one?", attach->target);
    if (attach->resume && attach->target == NULL)
        die_usage("--resume is for a guest that runs already");
    if (attach->guest != NULL && attach->image == NULL)
        attach->image = guest_word(attach->guest, "-kernel");
    if (is_xen(attach) && attach->ram != NULL)
        die_usage("--ram: the RAM of %s is read anyway", attach->target);
}

static bool alive(void *owner)
{
    return guest_runs(owner);
}

/* How callers are found. */
static const char *ways(const struct attach *attach)
{
    return attach->image != NULL
               ? "callers by the image, and by frame pointers"
               : "callers by frame pointers only; -k IMAGE knows more";
}

static void print_method(const struct attach *attach, const struct stub *stub)
{
    log_info("%s, %zu CPU%s, %s; %s%s",
             stub->is_qemu ? "QEMU's stub, one round trip for each sample"
                           : "a stub for GDB, several round trips for each "
                             "sample",
             stub->machine.cpu_count, stub->machine.cpu_count == 1 ? "" : "s",
             stub->machine.is_64 ? "x86_64" : "i386",
             attach->ram != NULL ? "stacks from shared RAM; " : "",
             ways(attach));
}

static int print_once(struct attach *attach, struct image *image)
{
    struct sampler *sampler = &attach->sampler;
    enum machine_stop stop = machine_stop(sampler->machine);

    if (stop == MACHINE_ENDED || stop == MACHINE_TORN)
        die("%s", machine_reason_text(sampler->machine));
    once_print(stdout, sampler, image);
    return STATUS_OK;
}

/* Samples, and says how it ended. */
static int sample(struct attach *attach)
{
    struct sampler *sampler = &attach->sampler;
    enum machine_reason reason;
    bool failed;

    sampler_run(sampler, attach->output);
    reason = sampler->machine->reason;
    failed = reason != MACHINE_LIVES && reason != MACHINE_EXITED &&
             reason != MACHINE_GONE;
    if (failed || (reason != MACHINE_LIVES && attach->guest == NULL))
        log_error("%s after %llu samples",
                  machine_reason_text(sampler->machine),
                  (unsigned long long)sampler->samples);
    sampler_report(sampler);
    return failed ? STATUS_DATA : STATUS_OK;
}

/* Whether the guest's own profiler has a ring in its RAM, and where. */
static bool find_ring(const struct attach *attach, const struct image *image,
                      uint64_t *address)
{
    struct ram ram = {0};
    const uint8_t *magic;
    bool found;

    if (attach->ram == NULL || attach->image == NULL || attach->once ||
        attach->stub || attach->guest != NULL ||
        !image_object(image, "prof_share_ring", address) ||
        !ram_open(&ram, attach->ram))
        return false;
    magic = ram_below(&ram, *address, sizeof(uint64_t));
    found = magic != NULL && le64(magic) == PROF_SHARE_MAGIC;
    ram_close(&ram);
    return found;
}

/* Reads the ring at (address), at the guest's own rate. */
static int read_ring(struct attach *attach, struct image *image,
                     uint64_t address)
{
    static struct capture capture;
    const struct target target = {
        .is_ram = true, .path = attach->ram, .file = -1};

    log_info("the ring of the guest's own profiler in %s, which is read "
             "without a stop, at its own rate; --stub samples from outside",
             attach->ram);
    capture.image = image;
    capture.boots.image = attach->sampler.boots.image;
    capture.seconds =
        attach->sampler.seconds > 0 ? attach->sampler.seconds : FOR_EVER;
    capture_begin(&capture, attach->output);
    capture_run(&capture, &target, NULL, address);
    capture_end(&capture);
    if (!capture.refused && capture.boots.list[0]->writer.index.count == 0)
        die("no packets came in that time");
    return capture.refused ? STATUS_DATA : STATUS_OK;
}

static int look(struct attach *attach, struct image *image)
{
    struct sampler *sampler = &attach->sampler;
    int code;

    sampler->unwinder = unwind_open(attach->image != NULL ? image : NULL);
    code = attach->once ? print_once(attach, image) : sample(attach);
    unwind_close(sampler->unwinder);
    return code;
}

static int run_xen(struct attach *attach, struct image *image)
{
    static struct xen xen;
    int code;

    signals_catch();
    xen_attach(&xen, attach->target);
    xen.takes_dead = attach->once;
    log_info("Xen, two calls for each sample, %zu CPU%s, %s; stacks from "
             "mapped RAM; %s",
             xen.machine.cpu_count, xen.machine.cpu_count == 1 ? "" : "s",
             xen_kind(&xen), ways(attach));
    attach->sampler.machine = &xen.machine;
    code = look(attach, image);
    machine_end(&xen.machine);
    return code;
}

static int run(struct attach *attach, struct image *image)
{
    static struct stub stub;
    struct sampler *sampler = &attach->sampler;
    struct guest guest = {.stream = -1};
    int file, code;

    signals_catch(); /* to be connected stops a guest */
    if (attach->guest != NULL) {
        guest_start(&guest, attach->guest, GUEST_STUB, 0, -1);
        file = guest.stream;
        sampler->alive = alive;
        sampler->owner = &guest;
    } else {
        file = attach_connect(attach->target);
    }
    if (!stub_begin(&stub, file, attach->timeout)) {
        if (attach->guest != NULL)
            guest_stop(&guest); /* prints what QEMU said */
        die("%s: %s", attach->target != NULL ? attach->target : "QEMU",
            machine_reason_text(&stub.machine));
    }
    if (attach->guest != NULL)
        stub.machine.held = false; /* by -S, for us */
    if (attach->ram != NULL && !ram_open(&sampler->ram, attach->ram))
        die("%s: cannot be read: %s", attach->ram, strerror(errno));
    if (attach->ram != NULL && stub.layout.places[REGISTER_CR3].bytes == 0)
        die("--ram: the stub does not send cr3, which pages are found by");
    sampler->machine = &stub.machine;
    print_method(attach, &stub);
    code = look(attach, image);
    ram_close(&sampler->ram);
    machine_end(&stub.machine);
    if (attach->guest != NULL) {
        guest.stream = -1;
        guest_stop(&guest);
        code = code != STATUS_OK ? code : guest_code(&guest);
        guest_free(&guest);
    }
    return code;
}

int command_attach(int argc, char **argv)
{
    static const struct argp argp = {
        options, parse, "TARGET\n-- QEMU-COMMAND...", help_text, NULL, 0, 0};
    static struct attach attach = {
        .output = "x.trace",
        .timeout = TIMEOUT_USUAL,
        .sampler = {.hz = HZ_USUAL, .depth = DEPTH_USUAL, .packets = -1}};
    struct request split = REQUEST_NOTHING;
    static struct image image;
    uint64_t ring;

    argc = request_split(&split, argc, argv);
    attach.guest = split.guest;
    arguments_parse(&argp, argc, argv, &attach);
    check(&attach);
    if (attach.resume)
        return attach_resume(attach.target, attach.timeout);
    if (attach.image != NULL) {
        image_open(&image, attach.image);
        attach.sampler.image = &image;
        attach.sampler.boots.image = image_paths_real(attach.image);
        attach.sampler.boots.symbols =
            image_remember(&image, &attach.sampler.boots.symbols_bytes);
    }
    if (find_ring(&attach, &image, &ring))
        return read_ring(&attach, &image, ring);
    return is_xen(&attach) ? run_xen(&attach, &image) : run(&attach, &image);
}

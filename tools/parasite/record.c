/* SPDX-License-Identifier: Apache-2.0 */
/* parasite record: from a guest, or from what it left, to a trace. */

#include "capture.h"
#include "commands.h"
#include "parasite.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 127  /* of a guest, and */
#define DEPTH_USUAL 64 /* what it has unless it is told */

struct request {
    const char *output;
    const char *image;
    const char *target;
    const char *control; /* the line that commands go out on, or NULL */
    char **guest;        /* the command line behind "--", or NULL */
    enum guest_transport transport;
    uint32_t hz; /* 0 = as it is */
    int depth;   /* -1 = as it is */
    double seconds;
    bool force;
    struct sender sender;
};

static const char help_text[] =
    "Write what a guest sends to a trace, a folder that 'parasite report' and "
    "babeltrace2 read."
    "\vTARGET is unix:PATH, tcp:HOST:PORT, file:PATH, shm:PATH (the guest's "
    "RAM, "
    "with -k), console:PATH (a log with #prof lines), or - for stdin. With -- "
    "the guest is started, and its exit code becomes ours.\n\n"
    "For example:\n"
    "  parasite record -F 999 -d 10 -o x.trace -- qemu-system-x86_64 -kernel "
    "image.elf -display none\n"
    "  parasite record -o x.trace console.log\n"
    "  parasite record -F 99 --depth 0 -o x.trace unix:stream.sock\n"
    "  parasite record -k image.elf -o x.trace shm:/dev/shm/ram\n"
    "  parasite record -k image.elf --control unix:console.sock --send start "
    "-o x.trace shm:/dev/shm/ram";

enum { KEY_DEPTH = 256, KEY_CONTROL, KEY_SEND };

static const struct argp_option options[] = {
    {"output", 'o', "TRACE", 0, "the folder to be written (x.trace)", 0},
    {"freq", 'F', "HZ", 0, "samples a second; a guest that runs is told", 0},
    {"call-stacks", 'g', NULL, 0, "with call stacks, as --depth 64", 0},
    {"depth", KEY_DEPTH, "N", 0, "callers that a sample carries, 0 to 127", 0},
    {"send", KEY_SEND, "COMMAND", 0,
     "tell the guest first, as in --send start; may be repeated", 0},
    {"control", KEY_CONTROL, "TARGET", 0,
     "the line for commands, where it is not TARGET itself", 0},
    {"duration", 'd', "SECONDS", 0, "end after that time", 0},
    {"kernel", 'k', "IMAGE", 0, "the image that the guest must be", 0},
    {"transport", 't', "NAME", 0,
     "how a guest behind -- sends: uart (default), debugcon, virtio, serial, "
     "shm",
     0},
    {"force", 'f', NULL, 0, "also if the guest is another image", 0},
    {"quiet", 'q', NULL, 0, "say nothing unless something is wrong", 0},
    {"verbose", 'v', NULL, 0, "say what is done", 0},
    {0},
};

static double positive(const char *option, const char *text)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end != '\0' || !(value > 0 && value <= 1e9))
        misuse("%s takes a number greater than 0, not '%s'", option, text);
    return value;
}

static int depth_of(const char *text)
{
    char *end;
    long depth = strtol(text, &end, 10);

    if (end == text || *end != '\0' || depth < 0 || depth > DEPTH_MAX)
        misuse("--depth takes 0 to %d, not '%s'", DEPTH_MAX, text);
    return (int)depth;
}

/* What concerns the guest. */
static error_t parse_guest(int key, char *word, struct request *request)
{
    switch (key) {
    case 'F':
        request->hz = (uint32_t)positive("-F", word);
        if (request->hz == 0)
            misuse("-F takes 1 Hz or more, not '%s'", word);
        break;
    case 'g':
        request->depth = DEPTH_USUAL;
        break;
    case KEY_DEPTH:
        request->depth = depth_of(word);
        break;
    case KEY_SEND:
        send_add(&request->sender, "%s", word);
        break;
    case KEY_CONTROL:
        request->control = word;
        break;
    case 't':
        if (!guest_transport(word, &request->transport))
            misuse("there is no transport '%s'; there are uart, debugcon, "
                   "virtio, serial and shm",
                   word);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static error_t parse(int key, char *word, struct argp_state *state)
{
    struct request *request = state->input;

    switch (key) {
    case 'o':
        request->output = word;
        break;
    case 'd':
        request->seconds = positive("-d", word);
        break;
    case 'k':
        request->image = word;
        break;
    case 'f':
        request->force = true;
        break;
    case 'q':
        parasite_quiet = true;
        break;
    case 'v':
        parasite_verbose = true;
        break;
    case ARGP_KEY_ARG:
        if (request->target != NULL)
            misuse("one target is enough: '%s' or '%s'?", request->target,
                   word);
        request->target = word;
        break;
    default:
        return parse_guest(key, word, request);
    }
    return 0;
}

/* Cuts the guest's command line off. */
static int split(int argc, char **argv, struct request *request)
{
    for (int i = 1; i < argc; ++i) {
        if (strcmp(argv[i], "--") != 0)
            continue;
        if (i + 1 < argc)
            request->guest = argv + i + 1;
        argv[i] = NULL;
        return i;
    }
    return argc;
}

/* What a guest is started with need not be the image itself. */
static bool is_elf(const char *path)
{
    FILE *file = fopen(path, "rb");
    char magic[4] = "";
    bool is = file != NULL && fread(magic, sizeof magic, 1, file) == 1 &&
              memcmp(magic, "\177ELF", sizeof magic) == 0;

    if (file != NULL)
        fclose(file);
    return is;
}

static void check(struct request *request)
{
    if ((request->guest == NULL) == (request->target == NULL))
        misuse("give a target, or -- and the guest's command line; see "
               "'parasite record --help'");
    if (request->guest != NULL &&
        (request->sender.count > 0 || request->control != NULL))
        misuse("--send and --control are for a guest that runs; one behind -- "
               "is told by its command line, as in -append prof.start=off");
    if (request->image == NULL && request->guest != NULL) {
        const char *kernel = guest_word(request->guest, "-kernel");

        if (kernel != NULL && is_elf(kernel))
            request->image = kernel;
    }
}

/* The address of the ring in the guest's RAM. */
static uint64_t ring_in(const struct request *request,
                        const struct image *image)
{
    uint64_t address;

    if (request->image == NULL)
        misuse("to find the ring in the guest's RAM, give its image with -k");
    if (!image_object(image, "prof_share_ring", &address))
        fail("%s: there is no symbol prof_share_ring in it; the profiler that "
             "it was linked with cannot share RAM",
             request->image);
    return address;
}

/* Makes commands of what was asked for, and finds the line for them. */
static void prepare_sender(struct request *request, struct target *target)
{
    struct sender *sender = &request->sender;
    struct target control = *target;

    if (request->hz != 0)
        send_add(sender, "rate %u", (unsigned)request->hz);
    if (request->depth >= 0)
        send_add(sender, "depth %d", request->depth);
    if (request->control != NULL) {
        target_open(&control, request->control);
        sender->reads = true;
    }
    if (sender->count > 0 && !control.two_way)
        misuse("%s takes no commands; give the guest's console with --control",
               request->control != NULL ? request->control : request->target);
    sender->file = control.file;
}

/* Whether the guest did as it was told; if not, that has been said. */
static bool answered(struct sender *sender)
{
    if (sender->count > 0 && sender->state == SEND_WAITS)
        complain("the recording ended before '%s' was answered",
                 sender->lines[sender->answered]);
    return sender->count == 0 || sender->state == SEND_DONE;
}

/* Starts what is to be started, and records it. */
static int run(struct capture *capture, struct request *request,
               const struct image *image)
{
    struct target target = {.file = -1};
    struct guest guest = {.stream = -1};
    struct guest *started = NULL;
    uint64_t ring = 0;

    if (request->target != NULL) {
        target_open(&target, request->target);
        prepare_sender(request, &target);
        capture->sender = request->sender.count > 0 ? &request->sender : NULL;
    }
    if (target.is_ram ||
        (request->guest != NULL && request->transport == GUEST_SHM))
        ring = ring_in(request, image);
    if (request->guest != NULL) {
        guest_start(&guest, request->guest, request->transport, request->hz,
                    request->depth);
        started = &guest;
        target = (struct target){.is_ram = guest.ram != NULL,
                                 .path = guest.ram,
                                 .file = guest.stream};
    }
    capture_begin(capture, request->output);
    capture_run(capture, &target, started, ring);
    capture_end(capture);
    if (started == NULL)
        return answered(&request->sender) ? STATUS_FINE : STATUS_DATA;
    guest_free(&guest);
    return guest_code(&guest);
}

int command_record(int argc, char **argv)
{
    static const struct argp argp = {
        options, parse, "TARGET\n-- QEMU-COMMAND...", help_text, 0, 0, 0};
    static struct capture capture;
    struct request request = {.output = "x.trace", .depth = -1};
    struct image image = {0};
    int code;

    argc = split(argc, argv, &request);
    argp_parse(&argp, argc, argv, 0, NULL, &request);
    check(&request);
    if (request.image != NULL) {
        image_open(&image, request.image);
        capture.image = &image;
        capture.writer.image = realpath(request.image, NULL);
    }
    capture.seconds = request.seconds;
    capture.force = request.force;
    capture.show_text =
        request.guest != NULL && request.transport == GUEST_SERIAL;
    code = run(&capture, &request, &image);
    if (capture.refused)
        return STATUS_DATA;
    if (code == STATUS_FINE && capture.writer.pile.count == 0)
        fail("no packet came; does the guest run with prof.out=, and is the "
             "profiler linked into it?");
    return code;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* parasite record: from a guest, or from what it left, to a trace. */

#include "capture.h"
#include "commands.h"
#include "parasite.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct request {
    const char *output;
    const char *image;
    const char *target;
    char **guest; /* the command line behind "--", or NULL */
    enum guest_transport transport;
    uint32_t hz;
    double seconds;
    bool force;
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
    "  parasite record -k image.elf -o x.trace shm:/dev/shm/ram";

static const struct argp_option options[] = {
    {"output", 'o', "TRACE", 0, "the folder to be written (x.trace)", 0},
    {"freq", 'F', "HZ", 0, "samples a second, for a guest behind --", 0},
    {"duration", 'd', "SECONDS", 0, "end after that time", 0},
    {"kernel", 'k', "IMAGE", 0, "the image that the guest must be", 0},
    {"transport", 't', "NAME", 0,
     "how a guest behind -- sends: uart (default), debugcon, virtio, serial, "
     "shm",
     0},
    {"force", 'f', NULL, 0, "also if the guest is another image", 0},
    {"quiet", 'q', NULL, 0, "say nothing unless something is wrong", 0},
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

static error_t parse(int key, char *word, struct argp_state *state)
{
    struct request *request = state->input;

    switch (key) {
    case 'o':
        request->output = word;
        break;
    case 'F':
        request->hz = (uint32_t)positive("-F", word);
        break;
    case 'd':
        request->seconds = positive("-d", word);
        break;
    case 'k':
        request->image = word;
        break;
    case 't':
        if (!guest_transport(word, &request->transport))
            misuse("there is no transport '%s'; there are uart, debugcon, "
                   "virtio, serial and shm",
                   word);
        break;
    case 'f':
        request->force = true;
        break;
    case 'q':
        parasite_quiet = true;
        break;
    case ARGP_KEY_ARG:
        if (request->target != NULL)
            misuse("one target is enough: '%s' or '%s'?", request->target,
                   word);
        request->target = word;
        break;
    default:
        return ARGP_ERR_UNKNOWN;
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
    if (request->hz != 0 && request->guest == NULL)
        misuse("-F is for a guest that is started behind --; a running one "
               "has its rate");
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

/* Starts what is to be started, and records it. */
static int run(struct capture *capture, const struct request *request,
               const struct image *image)
{
    struct target target = {.file = -1};
    struct guest guest = {.stream = -1};
    struct guest *started = NULL;
    uint64_t ring = 0;

    if (request->target != NULL)
        target_open(&target, request->target);
    if (target.is_ram ||
        (request->guest != NULL && request->transport == GUEST_SHM))
        ring = ring_in(request, image);
    if (request->guest != NULL) {
        guest_start(&guest, request->guest, request->transport, request->hz);
        started = &guest;
        target = (struct target){.is_ram = guest.ram != NULL,
                                 .path = guest.ram,
                                 .file = guest.stream};
    }
    capture_begin(capture, request->output);
    capture_run(capture, &target, started, ring);
    capture_end(capture);
    if (started == NULL)
        return STATUS_FINE;
    guest_free(&guest);
    return guest_code(&guest);
}

int command_record(int argc, char **argv)
{
    static const struct argp argp = {
        options, parse, "TARGET\n-- QEMU-COMMAND...", help_text, 0, 0, 0};
    static struct capture capture;
    struct request request = {.output = "x.trace"};
    struct image image = {0};
    int code;

    argc = split(argc, argv, &request);
    argp_parse(&argp, argc, argv, 0, NULL, &request);
    check(&request);
    if (request.image != NULL) {
        image_open(&image, request.image);
        capture.image = &image;
        capture.boots.image = realpath(request.image, NULL);
    }
    capture.seconds = request.seconds;
    capture.force = request.force;
    capture.show_text =
        request.guest != NULL && request.transport == GUEST_SERIAL;
    code = run(&capture, &request, &image);
    if (capture.refused)
        return STATUS_DATA;
    if (code == STATUS_FINE && capture.boots.list[0]->writer.pile.count == 0)
        fail("no packet came; does the guest run with prof.out=, and is the "
             "profiler linked into it?");
    return code;
}

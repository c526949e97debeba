/* SPDX-License-Identifier: Apache-2.0 */
/* parasite record: from a guest, or from what it left, to a trace. */

#include "base/log.h"
#include "base/signals.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "image/find.h"
#include "input/capture.h"
#include "input/request.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct recording {
    struct request request;
    const char *output;
    double seconds;
};

static const char help_text[] =
    "Record a guest's profile into a trace, a folder that 'parasite report' "
    "and babeltrace2 read."
    "\vTARGET is unix:PATH, tcp:HOST:PORT, file:PATH, shm:PATH (the guest's "
    "RAM, needs -k), console:PATH (a log with #prof lines), or - for stdin. "
    "The command line after -- starts a guest; its exit code becomes that of "
    "record.\n\n"
    "For example:\n"
    "  parasite record -F 999 -d 10 -- \\\n"
    "    qemu-system-x86_64 -kernel image.elf -display none\n"
    "  parasite record -o x.trace console.log\n"
    "  parasite record -F 99 --depth 0 -d 10 unix:stream.sock\n"
    "  parasite record -k image.elf --control unix:console.sock -d 10 \\\n"
    "    shm:/dev/shm/ram";

static const struct argp_option options[] = {
    {"output", 'o', "TRACE", 0, "the folder to write (x.trace)", 0},
    {"duration", 'd', "SECONDS", 0, "stop after SECONDS", 0},
    {0},
};

static error_t parse(int key, char *word, struct argp_state *state)
{
    struct recording *recording = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &recording->request;
        break;
    case 'o':
        recording->output = word;
        break;
    case 'd':
        recording->seconds = request_number("-d", word);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* Whether the guest accepted the commands; if not, that has been reported. */
static bool answered(struct sender *sender)
{
    if (sender->count > 0 && sender->state == SEND_WAITS)
        log_error("the recording ended before '%s' was answered",
                  sender->lines[sender->answered]);
    return sender->count == 0 || sender->state == SEND_DONE;
}

/* Starts the guest if necessary, and records it. */
static int run(struct capture *capture, struct recording *recording,
               const struct image *image)
{
    struct request *request = &recording->request;
    struct target target = {.file = -1};
    struct guest guest = {.stream = -1};
    struct guest *started = NULL;
    uint64_t ring = 0;
    char why[TARGET_WHY_MAX];

    signals_catch(); /* connecting is a wait, too */
    if (request->target != NULL) {
        target_open(&target, request->target);
        if (!request_prepare(request, &target, why, sizeof why))
            die("%s", why);
        capture->sender = &request->sender;
    }
    if (target.is_ram ||
        (request->guest != NULL && request->transport == GUEST_SHM))
        ring = request_ring(request, image);
    if (request->guest != NULL) {
        started = &guest;
        guest_start(started, request->guest, request->transport, request->hz,
                    request->depth);
        target = guest_target(started);
    }
    capture->hz = started != NULL ? request->hz : 0;
    capture_begin(capture, recording->output);
    capture_run(capture, &target, started, ring);
    capture_end(capture);
    if (started == NULL)
        return answered(&request->sender) ? STATUS_OK : STATUS_DATA;
    guest_free(&guest);
    return guest_code(&guest);
}

static _Noreturn void die_without_packets(struct request *request)
{
    if (request->target != NULL && send_is_held(&request->sender))
        die("no packets received: another client is connected to '%s', and "
            "QEMU serves one at a time",
            request->target);
    die("no packets received; does the guest run with prof.out=, and is the "
        "profiler linked into it?");
}

int command_record(int argc, char **argv)
{
    static const struct argp_child children[] = {
        {&request_argp, 0, NULL, 0},
        {0},
    };
    static const struct argp argp = {
        options, parse, "TARGET\n-- QEMU-COMMAND...", help_text, children,
        0,       0};
    static struct capture capture;
    struct recording recording = {.request = REQUEST_NOTHING,
                                  .output = "x.trace"};
    struct request *request = &recording.request;
    struct image image = {0};
    int code;

    argc = request_split(request, argc, argv);
    arguments_parse(&argp, argc, argv, &recording);
    request_check(request);
    if (request->image != NULL) {
        image_open(&image, request->image);
        capture.image = &image;
        capture.boots.image = image_paths_real(request->image);
        capture.boots.symbols =
            image_remember(&image, &capture.boots.symbols_bytes);
    }
    capture.seconds = recording.seconds;
    capture.force = request->force;
    capture.show_text =
        request->guest != NULL && request->transport == GUEST_SERIAL;
    code = run(&capture, &recording, &image);
    if (capture.refused)
        return STATUS_DATA;
    if (code == STATUS_OK && capture.boots.list[0]->writer.index.count == 0)
        die_without_packets(request);
    return code;
}

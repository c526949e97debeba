/* SPDX-License-Identifier: Apache-2.0 */
/* parasite record: from a guest, or from what it left, to a trace. */

#include "base/log.h"
#include "base/wait.h"
#include "cli/arguments.h"
#include "image/find.h"
#include "input/capture.h"
#include "input/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct request request = REQUEST_NOTHING;
static struct capture capture;
static const char *output = "x.trace";

static const char help_text[] =
    "Record a guest's profile into a trace, a folder that 'parasite report' "
    "and babeltrace2 read."
    "\vTARGET is unix:PATH, tcp:HOST:PORT, http://HOST:PORT (a guest with "
    "prof.port=; its token in PARASITE_TOKEN), vsock:PATH:PORT (Firecracker's "
    "socket, a guest with prof.out=vsock), vsock:CID:PORT, file:PATH, shm:PATH "
    "(the guest's RAM, needs -k), console:PATH (a log with #prof lines), or - "
    "for stdin. "
    "The command line after -- starts a guest; its exit code becomes that of "
    "record.\n\n"
    "For example:\n"
    "  parasite record -F 999 -d 10 -- \\\n"
    "    qemu-system-x86_64 -kernel image.elf -display none\n"
    "  parasite record -o x.trace console.log\n"
    "  parasite record -F 99 --depth 0 -d 10 unix:stream.sock\n"
    "  parasite record -g -d 10 http://localhost:9999\n"
    "  parasite record -g -d 10 vsock:v.sock:9999\n"
    "  parasite record -k image.elf --control unix:console.sock -d 10 \\\n"
    "    shm:/dev/shm/ram";

static void set_duration(char *word)
{
    capture.seconds = request_number("-d", word);
}

static const struct argument options[] = {
    {"output", 'o', "TRACE", "the folder to write (x.trace)", .text = &output},
    {"duration", 'd', "SECONDS",
     "stop after SECONDS, from when the guest has taken what is set",
     .take = set_duration},
    {0},
};

/* Whether the guest accepted the commands; if not, that has been reported. */
static bool answered(struct sender *sender)
{
    if (sender->count > 0 && sender->state == SEND_WAITS)
        log_error("the recording ended before '%s' was answered",
                  sender->lines[sender->answered]);
    return sender->count == 0 || sender->state == SEND_DONE;
}

static int record(const struct image *image)
{
    struct target target = {.file = -1};
    struct guest guest = {.stream = -1};
    struct guest *started = NULL;
    uint64_t ring = 0;
    char why[TARGET_WHY_MAX];

    signals_catch(); /* connecting is a wait, too */
    if (request.target != NULL) {
        target_open(&target, request.target, TARGET_STREAM);
        if (!request_prepare(&request, &target, why, sizeof why))
            die("%s", why);
        capture.sender = &request.sender;
    }
    if (target.is_ram ||
        (request.guest != NULL && request.transport == GUEST_SHM))
        ring = request_ring(&request, image);
    if (request.guest != NULL) {
        started = &guest;
        guest_start(started, request.guest, request.transport, request.hz,
                    request.depth);
        target = guest_target(started);
    }
    capture.hz = started != NULL ? request.hz : 0;
    capture_begin(&capture, output);
    capture_run(&capture, &target, started, ring);
    capture_end(&capture);
    if (started == NULL)
        return answered(&request.sender) ? STATUS_OK : STATUS_DATA;
    guest_free(&guest);
    return guest_code(&guest);
}

static _Noreturn void die_without_packets(void)
{
    if (request.target != NULL && send_is_held(&request.sender))
        die("no packets received: another client is connected to '%s', and "
            "QEMU serves one at a time",
            request.target);
    if (request.target != NULL && strncmp(request.target, "vsock:", 6) == 0)
        die("no packets received: the guest does not sample, which 'parasite "
            "tell %s start' changes, or another client that connected before "
            "gets its packets",
            request.target);
    die("no packets received; does the guest run with prof.out=, and is the "
        "profiler linked into it?");
}

int command_record(int argc, char **argv)
{
    static const struct command_line line = {
        options, "TARGET\n-- QEMU-COMMAND...", help_text,
        .child = &request_options, .child_owner = &request};
    struct image image = {0};
    int code;

    argc = request_split(&request, argc, argv);
    arguments_parse(&line, argc, argv);
    request_check(&request);
    if (request.image != NULL) {
        image_open(&image, request.image);
        capture.image = &image;
        capture.boots.image = image_paths_real(request.image);
        capture.boots.symbols =
            image_remember(&image, &capture.boots.symbols_bytes);
    }
    capture.force = request.force;
    capture.show_text =
        request.guest != NULL && request.transport == GUEST_SERIAL;
    code = record(&image);
    if (capture.refused)
        return STATUS_DATA;
    if (code == STATUS_OK && capture.boots.list[0]->writer.index.count == 0)
        die_without_packets();
    return code;
}

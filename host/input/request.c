/* SPDX-License-Identifier: Apache-2.0 */
/* Which guest, and which commands it gets. */

#include "input/request.h"

#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEPTH_MAX 127  /* the guest's limit, and */
#define DEPTH_USUAL 64 /* its default */

enum { KEY_DEPTH = 1024, KEY_CONTROL, KEY_SEND };

static const struct argp_option options[] = {
    {"freq", 'F', "HZ", 0, "sample HZ times a second", 1},
    {"call-stacks", 'g', NULL, 0, "record call stacks, as --depth 64", 1},
    {"depth", KEY_DEPTH, "N", 0, "record up to N callers, 0 to 127", 1},
    {"send", KEY_SEND, "COMMAND", 0,
     "send COMMAND to the guest first, such as start; may be repeated", 1},
    {"control", KEY_CONTROL, "LINE", 0,
     "send commands to LINE instead of TARGET", 1},
    {"transport", 't', "NAME", 0,
     "transport of a guest after --: uart (default), debugcon, virtio, serial "
     "or shm",
     1},
    {"kernel", 'k', "IMAGE", 0, "the ELF image that the guest must run", 2},
    {"force", 'f', NULL, 0, "accept a guest that runs another image", 2},
    {"quiet", 'q', NULL, 0, "no messages except errors", 3},
    {"verbose", 'v', NULL, 0, "also say what is done", 3},
    {0},
};

double request_number(const char *option, const char *text)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end != '\0' || !(value > 0 && value <= 1e9))
        die_usage("%s takes a number greater than 0, not '%s'", option, text);
    return value;
}

static int depth_of(const char *text)
{
    char *end;
    long depth = strtol(text, &end, 10);

    if (end == text || *end != '\0' || depth < 0 || depth > DEPTH_MAX)
        die_usage("--depth takes 0 to %d, not '%s'", DEPTH_MAX, text);
    return (int)depth;
}

static uint32_t rate_of(const char *text)
{
    double hz = request_number("-F", text);

    if (hz < 1)
        die_usage("-F takes 1 Hz or more, not '%s'", text);
    return (uint32_t)hz;
}

static error_t parse_commands(int key, char *word, struct request *request)
{
    switch (key) {
    case 'F':
        request->hz = rate_of(word);
        break;
    case 'g':
        request->stacks = true;
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
            die_usage("-t is uart, debugcon, virtio, serial or shm, not '%s'",
                      word);
        request->has_transport = true;
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static error_t parse_request(int key, char *word, struct argp_state *state)
{
    struct request *request = state->input;

    switch (key) {
    case 'k':
        request->image = image_paths_add(request->image, word);
        break;
    case 'f':
        request->force = true;
        break;
    case 'q':
        log_quiet = true;
        break;
    case 'v':
        log_is_verbose = true;
        break;
    case ARGP_KEY_ARG:
        if (request->target != NULL)
            die_usage("one target at a time: '%s' or '%s'?", request->target,
                      word);
        request->target = word;
        break;
    default:
        return parse_commands(key, word, request);
    }
    return 0;
}

const struct argp request_argp = {options, parse_request, 0, 0, 0, 0, 0};

int request_split(struct request *request, int argc, char **argv)
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

/* The kernel that a guest is started with need not be the image itself. */
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

static void check_options(struct request *request)
{
    if (request->guest == NULL && request->target == NULL)
        die_usage("give a target, or -- and a QEMU command line; see '%s "
                  "--help'",
                  log_name);
    if (request->guest != NULL && request->target != NULL)
        die_usage("'%s' and a command line after --: give one of them",
                  request->target);
    if (request->guest == NULL && request->has_transport)
        die_usage("-t is for a guest after --; a running one has prof.out= on "
                  "its command line");
    if (request->stacks && request->depth == 0)
        die_usage("-g and --depth 0 contradict each other");
    if (request->stacks && request->depth < 0)
        request->depth = DEPTH_USUAL;
}

void request_check(struct request *request)
{
    struct sender *sender = &request->sender;

    check_options(request);
    if (request->guest == NULL) {
        if (request->hz != 0)
            send_add(sender, "rate %u", (unsigned)request->hz);
        if (request->depth >= 0)
            send_add(sender, "depth %d", request->depth);
        return;
    }
    if (sender->count > 0 || request->control != NULL)
        die_usage("--send and --control are for a running guest; for one after "
                  "--, use -append, as in -append prof.start=off");
    if (request->image == NULL) {
        const char *kernel = guest_word(request->guest, "-kernel");

        if (kernel != NULL && is_elf(kernel))
            request->image = kernel;
    }
}

uint64_t request_ring(const struct request *request, const struct image *image)
{
    uint64_t address;

    if (request->image == NULL)
        die_usage(
            "shm: needs the guest's image, to find the ring; give it with -k");
    if (!image_object(image, "prof_share_ring", &address))
        die("%s: no symbol prof_share_ring: its profiler was built without "
            "the transport shm",
            request->image);
    return address;
}

bool request_prepare(struct request *request, const struct target *target,
                     char *why, size_t room)
{
    struct sender *sender = &request->sender;
    struct target control = *target;

    if (request->control_file >= 0)
        close(request->control_file);
    request->control_file = -1;
    if (request->control != NULL) {
        if (!target_try(&control, request->control, why, room))
            return false;
        request->control_file = control.file;
        sender->reads = true;
    }
    if (sender->count > 0 && !control.two_way)
        die_usage("%s does not take commands; give the guest's console with "
                  "--control",
                  request->control != NULL ? request->control
                                           : request->target);
    send_begin(sender, control.two_way ? control.file : -1);
    return true;
}

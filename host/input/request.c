/* SPDX-License-Identifier: Apache-2.0 */
/* Which guest, and which commands it gets. */

#include "input/request.h"

#include "base/log.h"
#include "image/targets.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEPTH_MAX 127  /* the guest's limit, and */
#define DEPTH_USUAL 64 /* its default */

double request_number(const char *option, const char *text)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end != '\0' || !(value > 0 && value <= 1e9))
        die_usage("%s takes a number greater than 0, not '%s'", option, text);
    return value;
}

/* ---- the options */

static void set_rate(void *owner, char *word)
{
    double hz = request_number("-F", word);

    if (hz < 1)
        die_usage("-F takes 1 Hz or more, not '%s'", word);
    ((struct request *)owner)->hz = (uint32_t)hz;
}

static void set_depth(void *owner, char *word)
{
    char *end;
    long depth = strtol(word, &end, 10);

    if (end == word || *end != '\0' || depth < 0 || depth > DEPTH_MAX)
        die_usage("--depth takes 0 to %d, not '%s'", DEPTH_MAX, word);
    ((struct request *)owner)->depth = (int)depth;
}

static void add_command(void *owner, char *word)
{
    send_add(&((struct request *)owner)->sender, "%s", word);
}

static void set_transport(void *owner, char *word)
{
    struct request *request = owner;

    if (!guest_transport(word, &request->transport))
        die_usage("-t is uart, debugcon, virtio, serial or shm, not '%s'",
                  word);
    request->has_transport = true;
}

static void add_image(void *owner, char *word)
{
    struct request *request = owner;

    request->image = image_paths_add(request->image, word);
}

static void set_target(void *owner, char *word)
{
    struct request *request = owner;

    if (request->target != NULL)
        die_usage("one target at a time: '%s' or '%s'?", request->target, word);
    request->target = word;
}

#define AT(field) offsetof(struct request, field)

static const struct argument options[] = {
    {"freq", 'F', "HZ", "sample HZ times a second", .take_for = set_rate,
     .group = 1},
    {"call-stacks", 'g', NULL, "record call stacks, as --depth 64",
     .flag_at = AT(stacks), .group = 1},
    {"depth", 0, "N", "record up to N callers, 0 to 127", .take_for = set_depth,
     .group = 1},
    {"send", 0, "COMMAND",
     "send COMMAND to the guest first, such as start; may be repeated",
     .take_for = add_command, .group = 1},
    {"control", 0, "LINE", "send commands to LINE instead of TARGET",
     .text_at = AT(control), .group = 1},
    {"transport", 't', "NAME",
     "transport of a guest after --: uart (default), debugcon, virtio, serial "
     "or shm",
     .take_for = set_transport, .group = 1},
    {"kernel", 'k', "IMAGE", "the ELF image that the guest must run",
     .take_for = add_image, .group = 2},
    {"force", 'f', NULL, "accept a guest that runs another image",
     .flag_at = AT(force), .group = 2},
    {"quiet", 'q', NULL, "no messages except errors", .flag = &log_quiet,
     .group = 3},
    {"verbose", 'v', NULL, "also say what is done", .flag = &log_is_verbose,
     .group = 3},
    {0},
};

const struct argument_set request_options = {options, NULL, set_target, NULL};

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

/* The guest has no debug information, and does not know where a line is. */
static void resolve_targets(struct request *request)
{
    for (char **word = request->guest; word[0] != NULL && word[1] != NULL;
         ++word)
        if (strcmp(word[0], "-append") == 0) {
            word[1] = targets_of_line(request->image, word[1]);
            break;
        }
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
    resolve_targets(request);
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
        if (!target_try(&control, request->control, TARGET_COMMANDS, why, room))
            return false;
        request->control_file = control.file;
        sender->reads = true;
    }
    if (sender->count > 0 && !control.two_way)
        die_usage("%s does not take commands; give the guest's console with "
                  "--control",
                  request->control != NULL ? request->control
                                           : request->target);
    sender->listens = control.answered;
    send_begin(sender, control.two_way ? control.file : -1);
    return true;
}

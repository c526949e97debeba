/* SPDX-License-Identifier: Apache-2.0 */
#ifndef INPUT_REQUEST_H
#define INPUT_REQUEST_H

/* What record and top have in common: the guest, whether it is started or runs
 * already, and the commands it gets. */

#include "base/options.h"
#include "image/image.h"
#include "input/qemu.h"
#include "input/send.h"
#include "input/target.h"

struct request {
    const char *image;
    const char *target;
    const char *control; /* the connection for commands, or NULL */
    char **guest;        /* the command line after "--", or NULL */
    enum guest_transport transport;
    uint32_t hz; /* 0 = unchanged */
    int depth;   /* -1 = unchanged */
    bool force;
    bool stacks; /* -g */
    bool has_transport;
    struct sender sender;
    int control_file; /* opened for (control), -1 = none */
};

/* Initial value of a request. */
#define REQUEST_NOTHING                                                        \
    {                                                                          \
        .depth = -1, .control_file = -1                                        \
    }

/* The common options and the target, of a request. */
extern const struct argument_set request_options;

/* Cuts the guest's command line off; returns how many arguments are left. */
int request_split(struct request *request, int argc, char **argv);

/* Ends the process if the options contradict each other; finds the image of a
 * guest that is to be started. */
void request_check(struct request *request);

/* The address of the ring in the guest's RAM. */
uint64_t request_ring(const struct request *request, const struct image *image);

/* Prepares the requested commands for the guest at (target), which was just
 * opened; may be called again for another one. If the connection for them
 * cannot be opened, returns false with the reason in (why), which has (room)
 * bytes. */
bool request_prepare(struct request *request, const struct target *target,
                     char *why, size_t room);

/* Parses the positive number (text) of (option). */
double request_number(const char *option, const char *text);

#endif

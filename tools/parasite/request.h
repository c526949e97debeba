/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REQUEST_H
#define REQUEST_H

/*
 * What record and top have in common: which guest is meant, whether it is
 * started or runs already, and what it is told.
 */

#include "guest.h"
#include "image.h"
#include "send.h"
#include "target.h"

#include <argp.h>

struct request {
    const char *image;
    const char *target;
    const char *control; /* the line that commands go out on, or NULL */
    char **guest;        /* the command line behind "--", or NULL */
    enum guest_transport transport;
    uint32_t hz; /* 0 = as it is */
    int depth;   /* -1 = as it is */
    bool force;
    struct sender sender;
    int control_file; /* that was opened for (control), -1 = none */
};

/* What a request begins with. */
#define REQUEST_NOTHING                                                        \
    {                                                                          \
        .depth = -1, .control_file = -1                                        \
    }

/* The common options, to be a child of the command's own, and the target. Its
 * input is the request. */
extern const struct argp request_argp;

/* Cuts the guest's command line off the arguments; to be called before they
 * are parsed. Returns how many are left. */
int request_split(struct request *request, int argc, char **argv);

/* Ends the process if the options make no sense together; finds out the image
 * of a guest that is to be started. */
void request_check(struct request *request);

/* The address of the ring in the guest's RAM. */
uint64_t request_ring(const struct request *request, const struct image *image);

/* Makes commands of what was asked for, to be sent to the guest behind
 * (target), which was just opened; the next time, to another one. False where
 * the line for them cannot be opened: (why), with (room) bytes, tells. */
bool request_prepare(struct request *request, const struct target *target,
                     char *why, size_t room);

/* A number greater than 0 in (text), which follows (option). */
double request_number(const char *option, const char *text);

#endif

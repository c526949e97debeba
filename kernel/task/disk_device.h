/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DISK_DEVICE_H
#define DISK_DEVICE_H

/* The disk's device, and its agent in causal experiments. Contexts: thread. */

#include <kernel/loop.h>
#include <prof/causal.h>

/* Of one request. */
struct disk_answer {
    bool modelled; /* the agent knows of it */
    struct prof_request request;
    struct loop_answer of_loop;
};

/* Starts the device. Returns why it cannot, or NULL. */
const char *disk_device_start(void);

/* Completes requests, and notes when. */
void disk_poll(void);

/* The request was submitted, at (doorbell). */
void disk_submitted(struct disk_answer *answer, struct prof_moment doorbell);

/* It was completed: calls (callback) when that is due, at once without
 * experiments. From disk_poll(). */
void disk_answered(struct disk_answer *answer, loop_callback *callback,
                   void *context);

#endif

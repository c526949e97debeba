/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_TRACE_H
#define KERNEL_TRACE_H

/* Reports interrupts and requests to devices to the recorder from now on if it
 * is on, and no longer if it is off, so that they cost nothing then. To be
 * called after what may change it. Contexts: thread. */
void trace_follow(void);

/* While this is not 0, requests to devices are the profiler's own, and are not
 * reported. */
extern unsigned trace_hides;

#endif

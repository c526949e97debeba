/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_LOOP_LOOP_SEND_H
#define PROF_LOOP_LOOP_SEND_H

/* The statistics in the stream: once a second what has changed, and all of it
 * at the end and for a new reader. Contexts: thread. */

#include <stdint.h>

/* The drain has passed all samples on, (period_cycles) apart, the last one at
 * (last_tsc); (stolen_cycles) are known to have been stolen by the host. */
void prof_loop_drained(uint64_t tsc, uint64_t stolen_cycles,
                       uint64_t period_cycles, uint64_t last_tsc);

/* A new reader, or a reset: what was sent is void. */
void prof_loop_send_again(void);

/* The image ends. */
void prof_loop_send_last(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PIT_H
#define PIT_H

/*
 * The 8254 interval timer: three 16-bit counters that count down at PIT_HZ.
 * Channel 0 is wired to interrupt line 0, channel 2 to the speaker, with a
 * gate that software holds. The latter is what time is measured with.
 */

#include <stdbool.h>
#include <stdint.h>

#define PIT_HZ 1193182u
#define PIT_DIVISOR_MAX 65536u

/* A channel at one moment, as the read-back command latches it. */
struct pit_state {
    uint16_t count;  /* counts left; 0 may mean 65536 */
    bool output;     /* level of the OUT pin */
    bool null_count; /* a new count was written but is not yet counting */
    uint8_t mode;    /* 0 to 5; 2 is written by pit_start() */
};

/*
 * Makes channel 0 interrupt every (divisor) counts, 1 to PIT_DIVISOR_MAX;
 * others are brought into that range. Contexts: boot, thread, interrupt.
 */
void pit_start(uint32_t divisor);

/* Latches and reads (channel), 0 or 2. Contexts: interrupts off. */
struct pit_state pit_read(unsigned channel);

/*
 * Channel 2 counts down once from 65535, beginning now; its output goes high
 * when it gets to 0, about 55 ms later. The speaker stays silent.
 * Contexts: boot, thread.
 */
void pit_stopwatch_start(void);

#endif

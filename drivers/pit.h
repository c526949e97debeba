/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PIT_H
#define PIT_H

/*
 * The 8254 interval timer: three 16-bit counters that count down at PIT_HZ.
 * Channel 0 is connected to interrupt line 0, channel 2 to the speaker, with a
 * gate under software control. Channel 2 serves to measure time.
 */

#include <stdbool.h>
#include <stdint.h>

#define PIT_HZ 1193182u
#define PIT_DIVISOR_MAX 65536u

/* State of a channel, latched by the read-back command. */
struct pit_state {
    uint16_t count;  /* counts left; 0 may mean 65536 */
    bool output;     /* level of the OUT pin */
    bool null_count; /* a new count was written but is not loaded yet */
    uint8_t mode;    /* 0 to 5; pit_start() sets 2 */
};

/*
 * Makes channel 0 interrupt every (divisor) counts, clamped to the range 1 to
 * PIT_DIVISOR_MAX. Contexts: boot, thread, interrupt.
 */
void pit_start(uint32_t divisor);

/* Makes it interrupt once, (counts) counts from now, clamped to the range 1 to
 * PIT_ONCE_MAX. Contexts: as above. */
#define PIT_ONCE_MAX 65535u
void pit_once(uint32_t counts);

/* Makes it interrupt no more. Contexts: as above. */
void pit_stop(void);

/* Latches and reads (channel), 0 or 2. Contexts: interrupts off. */
struct pit_state pit_read(unsigned channel);

/*
 * Makes channel 2 count down once from 65535. Its output goes high when it
 * reaches 0, after about 55 ms. The speaker stays silent.
 * Contexts: boot, thread.
 */
void pit_stopwatch_start(void);

/* Whether there is a PIT: its channel 2 counts. That restarts the stopwatch.
 * Contexts: thread. */
bool pit_exists(void);

#endif

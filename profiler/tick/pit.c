/* SPDX-License-Identifier: Apache-2.0 */

/* The timer's few registers; see pit.h. */

#include "tick/pit.h"

#define PORT_CHANNEL_0 0x40

#define COMMAND_RATE 0x34      /* channel 0, low then high byte, mode 2 */
#define COMMAND_WAIT 0x32      /* channel 0, mode 1: waits for its gate */
#define COMMAND_LATCH 0x00     /* latch the count of channel 0 */
#define COMMAND_READ_BACK 0xc2 /* latch status and count of channel 0 */
#define STATUS_MODE_MASK 0x3f  /* access, mode and BCD bits of the status */
#define STATUS_HIGH 0x80       /* level of the output */
#define STATUS_SQUARE 0x06     /* mode 3, whose upper bit may be set or not */
#define STATUS_REPEATS 0x04    /* modes 2 and 3, whose upper bit may be set */
#define STATUS_NONE 0xff       /* no such register: the bus floats */

void prof_pit_set(uint32_t divisor)
{
    prof_out8(PROF_PIT_COMMAND, COMMAND_RATE);
    prof_pit_set_count(divisor);
}

void prof_pit_set_count(uint32_t divisor)
{
    prof_out8(PORT_CHANNEL_0, (uint8_t)divisor);
    prof_out8(PORT_CHANNEL_0, (uint8_t)(divisor >> 8));
}

void prof_pit_stop(void)
{
    prof_out8(PROF_PIT_COMMAND, COMMAND_WAIT);
}

struct prof_pit_state prof_pit_read(void)
{
    struct prof_pit_state state;

    prof_out8(PROF_PIT_COMMAND, COMMAND_READ_BACK);
    state.status = prof_in8(PORT_CHANNEL_0);
    state.count = prof_in8(PORT_CHANNEL_0);
    state.count |= (uint32_t)prof_in8(PORT_CHANNEL_0) << 8;
    if (state.count == 0)
        state.count = 65536;
    return state;
}

static uint32_t latched(void)
{
    uint32_t count;

    prof_out8(PROF_PIT_COMMAND, COMMAND_LATCH);
    count = prof_in8(PORT_CHANNEL_0);
    return count | (uint32_t)prof_in8(PORT_CHANNEL_0) << 8;
}

bool prof_pit_counts(void)
{
    uint32_t first = latched();

    for (uint32_t i = 0; i < PROF_PIT_LOOKS; i++)
        if (latched() != first)
            return true;
    return false;
}

bool prof_pit_is_square(struct prof_pit_state state)
{
    return state.status != STATUS_NONE &&
           (state.status & STATUS_SQUARE) == STATUS_SQUARE;
}

bool prof_pit_is_high(struct prof_pit_state state)
{
    return (state.status & STATUS_HIGH) != 0;
}

bool prof_pit_is_one_shot(struct prof_pit_state state)
{
    return state.status != STATUS_NONE && (state.status & STATUS_REPEATS) == 0;
}

bool prof_pit_disturbed(struct prof_pit_state state, uint32_t divisor, bool own)
{
    if (state.status == STATUS_NONE)
        return false;
    if (own && (state.status & STATUS_MODE_MASK) != COMMAND_RATE)
        return true;
    return state.count > divisor;
}

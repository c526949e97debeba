/* SPDX-License-Identifier: Apache-2.0 */

/* Source: Intel, 8254 Programmable Interval Timer, 1993. */

#include "pit.h"

#include <arch/cpu.h>

#define CHANNEL_0 0x40u
#define CHANNEL_2 0x42u
#define CONTROL 0x43u
#define SYSTEM_CONTROL_B 0x61u
#define GATE_2 0x01u
#define SPEAKER 0x02u

#define SELECT(channel) ((channel) << 6)
#define LOW_THEN_HIGH 0x30u
#define LOOKS 1000u /* at a count, one microsecond each at least */
#define MODE_ONCE (0u << 1)
#define MODE_WAIT (1u << 1) /* for its gate, which channel 0 has not */
#define MODE_RATE (2u << 1)

#define READ_BACK 0xc0u /* count and status, neither bit 5 nor bit 4 set */
#define READ_BACK_CHANNEL(channel) (2u << (channel))
#define STATUS_OUTPUT 0x80u
#define STATUS_NULL_COUNT 0x40u
#define STATUS_MODE(status) ((status) >> 1 & 7u)
#define MODE_MAX 5u

static void write_count(uint16_t port, uint16_t count)
{
    arch_out8(port, (uint8_t)count);
    arch_out8(port, (uint8_t)(count >> 8));
}

void pit_start(uint32_t divisor)
{
    const bool on = arch_interrupts_save();

    if (divisor == 0)
        divisor = 1;
    if (divisor > PIT_DIVISOR_MAX)
        divisor = PIT_DIVISOR_MAX;
    arch_out8(CONTROL, SELECT(0u) | LOW_THEN_HIGH | MODE_RATE);
    write_count(CHANNEL_0, (uint16_t)divisor); /* 65536 is written as 0 */
    arch_interrupts_restore(on);
}

void pit_once(uint32_t counts)
{
    const bool on = arch_interrupts_save();

    if (counts == 0)
        counts = 1;
    if (counts > PIT_ONCE_MAX)
        counts = PIT_ONCE_MAX;
    arch_out8(CONTROL, SELECT(0u) | LOW_THEN_HIGH | MODE_ONCE);
    write_count(CHANNEL_0, (uint16_t)counts);
    arch_interrupts_restore(on);
}

void pit_stop(void)
{
    arch_out8(CONTROL, SELECT(0u) | LOW_THEN_HIGH | MODE_WAIT);
}

struct pit_state pit_read(unsigned channel)
{
    const uint16_t port = (uint16_t)(CHANNEL_0 + channel);
    struct pit_state state;
    uint8_t status, low;

    arch_out8(CONTROL, (uint8_t)(READ_BACK | READ_BACK_CHANNEL(channel)));
    status = arch_in8(port);
    low = arch_in8(port);
    state.count = (uint16_t)(arch_in8(port) << 8 | low);
    state.output = (status & STATUS_OUTPUT) != 0;
    state.null_count = (status & STATUS_NULL_COUNT) != 0;
    state.mode = STATUS_MODE(status);
    if (state.mode > MODE_MAX)
        state.mode -= 4; /* modes 2 and 3 may read as 6 and 7 */
    return state;
}

bool pit_exists(void)
{
    const bool on = arch_interrupts_save();
    uint16_t first;
    unsigned looks = LOOKS;

    pit_stopwatch_start();
    first = pit_read(2).count;
    while (looks > 0 && pit_read(2).count == first)
        looks--;
    arch_interrupts_restore(on);
    return looks > 0;
}

void pit_stopwatch_start(void)
{
    const uint8_t control = arch_in8(SYSTEM_CONTROL_B);

    arch_out8(SYSTEM_CONTROL_B, (uint8_t)((control & ~SPEAKER) | GATE_2));
    arch_out8(CONTROL, SELECT(2u) | LOW_THEN_HIGH | MODE_ONCE);
    write_count(CHANNEL_2, UINT16_MAX);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The date on a host that lets seconds pass between two reads, and on a machine
 * without a clock. The ports are this file's.
 */

#include "../unit.h"

/* instead of the header's instructions, which a program may not use */
#define ARCH_CPU_H

static struct {
    uint64_t seconds; /* after midnight, 2 January 2026 */
    unsigned pauses;  /* readings still to come that the host interrupts */
    uint64_t update;  /* reads of status A until an update is over */
    unsigned waited;  /* pauses since the last of these, while it lasts */
    bool is_missing;
    uint64_t reads;
    uint8_t index;
} machine;

static void arch_out8(uint16_t port, uint8_t value)
{
    (void)port;
    machine.index = value;
}

static uint8_t arch_in8(uint16_t port)
{
    (void)port;
    machine.reads++;
    if (machine.is_missing)
        return 0xff;
    switch (machine.index) {
    case 0x0a:
        if (machine.update == 0)
            return 0x26;
        /* no read is before the first */
        assert_true(machine.waited >= 16 || machine.reads < 3);
        machine.waited = 0;
        machine.update--;
        return 0xa6;
    case 0x00:
        if (machine.pauses > 0) {
            machine.pauses--;
            machine.seconds++;
        }
        return (uint8_t)(machine.seconds % 60);
    case 0x02:
        return (uint8_t)(machine.seconds / 60 % 60);
    case 0x04:
        return (uint8_t)(machine.seconds / 3600);
    case 0x07:
        return 2;
    case 0x08:
        return 1;
    case 0x09:
        return 26;
    case 0x0b:
        return 0x06; /* binary, 24 hours */
    case 0x32:
        return 20;
    default:
        return 0;
    }
}

static void arch_pause(void)
{
    machine.waited++;
}

#include "../../../drivers/cmos.c"

#define MIDNIGHT 1767312000u

TEST(the_date_is_read)
{
    machine.pauses = 0;
    machine.seconds = 3 * 3600 + 4 * 60 + 5;
    assert_true(cmos_unix_seconds() == MIDNIGHT + machine.seconds);
}

TEST(a_busy_host_gets_it_too)
{
    machine.pauses = 50;
    machine.seconds = 59;
    assert_true(cmos_unix_seconds() == MIDNIGHT + machine.seconds);
    assert_int_equal(machine.pauses, 0);
}

/* As long as the host keeps QEMU's other thread from running. */
TEST(a_late_update_is_waited_for)
{
    machine.reads = 0;
    machine.update = 400000;
    assert_true(cmos_unix_seconds() == MIDNIGHT + machine.seconds);
}

TEST(a_stuck_update_is_given_up)
{
    machine.reads = 0;
    machine.update = UINT64_MAX;
    assert_true(cmos_unix_seconds() == 0);
    machine.update = 0;
}

TEST(a_missing_clock_is_given_up)
{
    machine.is_missing = true;
    machine.reads = 0;
    assert_true(cmos_unix_seconds() == 0);
    assert_in_range(machine.reads, 1, 1000);
    machine.is_missing = false;
}

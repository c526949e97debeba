/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The date on a host that lets seconds pass between two reads, and on a machine
 * without a clock. The ports are this file's.
 */

/* instead of the header's instructions, which a program may not use */
#define ARCH_CPU_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

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

static void the_date_is_read(void **state)
{
    (void)state;
    machine.pauses = 0;
    machine.seconds = 3 * 3600 + 4 * 60 + 5;
    assert_true(cmos_unix_seconds() == MIDNIGHT + machine.seconds);
}

static void a_busy_host_gets_it_too(void **state)
{
    (void)state;
    machine.pauses = 50;
    machine.seconds = 59;
    assert_true(cmos_unix_seconds() == MIDNIGHT + machine.seconds);
    assert_int_equal(machine.pauses, 0);
}

/* As long as the host keeps QEMU's other thread from running. */
static void a_late_update_is_waited_for(void **state)
{
    (void)state;
    machine.reads = 0;
    machine.update = 400000;
    assert_true(cmos_unix_seconds() == MIDNIGHT + machine.seconds);
}

static void a_stuck_update_is_given_up(void **state)
{
    (void)state;
    machine.reads = 0;
    machine.update = UINT64_MAX;
    assert_true(cmos_unix_seconds() == 0);
    machine.update = 0;
}

static void a_missing_clock_is_given_up(void **state)
{
    (void)state;
    machine.is_missing = true;
    machine.reads = 0;
    assert_true(cmos_unix_seconds() == 0);
    assert_in_range(machine.reads, 1, 1000);
    machine.is_missing = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_date_is_read),
        cmocka_unit_test(a_busy_host_gets_it_too),
        cmocka_unit_test(a_late_update_is_waited_for),
        cmocka_unit_test(a_stuck_update_is_given_up),
        cmocka_unit_test(a_missing_clock_is_given_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

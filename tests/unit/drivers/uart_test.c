/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A UART's interrupt at an IO-APIC, which ignores an edge of a line that is
 * masked: bytes that have come before anybody listens are heard nevertheless.
 */

#include "../unit.h"

/* instead of the header's instructions, which a program may not use */
#define ARCH_CPU_H

static uint8_t registers[8]; /* written */
static const char *typed;    /* and not read yet */
static bool interrupts_on, unmasked, is_high, is_pending;
static void (*handler)(void);
static unsigned calls, acknowledged;

static void look(void)
{
    const bool high =
        *typed != '\0' && (registers[1] & 1) != 0 && (registers[4] & 8) != 0;

    if (high && !is_high && unmasked)
        is_pending = true;
    is_high = high;
    if (is_pending && interrupts_on) {
        is_pending = false;
        interrupts_on = false;
        handler();
        interrupts_on = true;
    }
}

static void arch_out8(uint16_t port, uint8_t value)
{
    registers[port & 7] = value;
    look();
}

static uint8_t arch_in8(uint16_t port)
{
    uint8_t byte = registers[port & 7];

    if ((port & 7) == 5)
        byte = *typed != '\0';
    else if ((port & 7) == 0)
        byte = (uint8_t)*typed++;
    look();
    return byte;
}

static bool arch_interrupts_save(void)
{
    const bool on = interrupts_on;

    interrupts_on = false;
    return on;
}

static void arch_interrupts_restore(bool on)
{
    interrupts_on = on;
    look();
}

#include "../../../drivers/uart.c"

bool arch_irq_is_handled(unsigned of)
{
    assert_int_equal(of, PIC_LINE_COM1);
    return handler != NULL;
}

void arch_irq_handle(unsigned of, arch_irq_handler *by)
{
    assert_int_equal(of, PIC_LINE_COM1);
    handler = by;
}

void irq_unmask(unsigned of)
{
    assert_int_equal(of, PIC_LINE_COM1);
    unmasked = true;
    look();
}

void irq_done(unsigned of)
{
    assert_int_equal(of, PIC_LINE_COM1);
    acknowledged++;
}

static void heard(void)
{
    assert_false(interrupts_on);
    calls++;
}

static void begin_test(void)
{
    typed = "";
    interrupts_on = true;
    unmasked = is_high = is_pending = false;
    handler = NULL;
    input_handlers[0] = NULL;
    calls = acknowledged = 0;
    memset(registers, 0, sizeof registers);
}

FIXTURE(begin_test, NULL);

static unsigned read_all(void)
{
    unsigned bytes = 0;

    while (uart_read(UART_COM1) >= 0)
        bytes++;
    return bytes;
}

TEST(what_came_before_is_heard)
{
    typed = "stop\n";
    assert_true(uart_listen(UART_COM1, heard));
    assert_true(calls >= 1);
    assert_true(interrupts_on);
    assert_int_equal(read_all(), 5);
    calls = 0;
    typed = "start\n";
    look();
    assert_int_equal(calls, 1);
}

/* The line stays high, with no other edge, until all is read. */
TEST(what_comes_later_interrupts_once)
{
    assert_true(uart_listen(UART_COM1, heard));
    assert_int_equal(calls, 0);
    typed = "stop\n";
    look();
    look();
    assert_int_equal(calls, 1);
    assert_int_equal(acknowledged, 1);
    assert_int_equal(read_all(), 5);
}

/* A listener that takes the place of another one, whose edge has been. */
TEST(a_later_listener_hears_what_is_there)
{
    typed = "stop\n";
    assert_true(uart_listen(UART_COM1, heard));
    calls = 0;
    assert_true(uart_listen(UART_COM1, heard));
    assert_true(calls >= 1);
}

TEST(the_line_of_somebody_else_is_left_alone)
{
    handler = heard;
    assert_false(uart_listen(UART_COM1, heard));
    assert_false(unmasked);
    assert_int_equal(registers[1], 0);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A virtio console whose output is interrupted: by what prints in the middle of
 * a line, by what prints while kept text is moved, and by a panic, after which
 * the interrupted call never goes on. The device is this file's.
 */

#include "../unit.h"

/* instead of the header's instructions, which a program may not use */
#define ARCH_CPU_H
#define ARCH_FLAGS_IF (1u << 9)

static bool interrupts_on;
static void (*interrupt)(void); /* comes as soon as it may, once */

static void come(void)
{
    void (*now)(void) = interrupt;

    if (now == NULL || !interrupts_on)
        return;
    interrupt = NULL;
    interrupts_on = false;
    now();
    interrupts_on = true;
}

static uintptr_t arch_flags(void)
{
    return interrupts_on ? ARCH_FLAGS_IF : 0;
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
    come();
}

#include "../../../kernel/console.c"

#include <setjmp.h>

static char printed[4096];
static size_t printed_bytes;
static bool is_sending, is_there;
static void (*in_send)(void); /* an interrupt in the device's driver, once */

bool virtio_console_send(const void *data, size_t bytes)
{
    void (*now)(void) = in_send;

    assert_false(is_sending); /* one at a time */
    is_sending = true;
    in_send = NULL;
    assert_true(printed_bytes + bytes < sizeof printed);
    memcpy(printed + printed_bytes, data, bytes);
    printed_bytes += bytes;
    if (now != NULL)
        now();
    is_sending = false;
    return true;
}

bool virtio_console_start(void *(*allocate)(size_t bytes))
{
    (void)allocate;
    return is_there;
}

static unsigned finishes;

void virtio_console_finish(void)
{
    finishes++;
}

int virtio_console_receive(void)
{
    return -1;
}

bool virtio_console_listen(void (*heard)(void))
{
    (void)heard;
    return false;
}

int uart_start(uint16_t port)
{
    (void)port;
    return -1;
}

size_t uart_write(uint16_t port, const char *text, size_t bytes)
{
    (void)port, (void)text;
    return bytes;
}

int uart_read(uint16_t port)
{
    (void)port;
    return -1;
}

bool uart_listen(uint16_t port, void (*heard)(void))
{
    (void)port, (void)heard;
    return false;
}

bool debugcon_present(void)
{
    return false;
}

void debugcon_write(const void *text, size_t bytes)
{
    (void)text, (void)bytes;
}

void console_model_write(uint16_t port, const char *text, size_t bytes,
                         uint64_t tsc_hz)
{
    (void)port, (void)text, (void)bytes, (void)tsc_hz;
}

uint64_t clock_tsc_hz(void)
{
    return 1;
}

static void begin_test(void)
{
    kept_bytes = printed_bytes = 0;
    lock.depth = finishes = 0;
    late_is_over = false;
    is_there = interrupts_on = true;
    is_sending = false;
    interrupt = in_send = NULL;
    memset(printed, 0, sizeof printed);
    console_start();
    assert_int_equal(by, BY_NONE);
}

FIXTURE(begin_test, NULL);

static void says(const char *text)
{
    console_write(text, strlen(text));
}

static void interrupt_says(void)
{
    says("IRQ\n");
}

TEST(what_an_interrupt_prints_follows_the_line)
{
    console_start_late();
    in_send = interrupt_says;
    says("a line\n");
    assert_string_equal(printed, "a line\r\nIRQ\r\n");
    assert_int_equal(kept_bytes, 0);
}

/* The device is in use by what prints the text so far. */
TEST(what_interrupts_the_late_start_waits)
{
    says("boot\n");
    in_send = interrupt_says;
    console_start_late();
    says("a line\n");
    assert_string_equal(printed, "boot\r\na line\r\nIRQ\r\n");
    assert_int_equal(lock.depth, 0);
}

static jmp_buf panicked;

static void panic_says(void)
{
    says("panic: at 0x1000\n");
    is_sending = false; /* it will not go on */
    console_finish();
    longjmp(panicked, 1);
}

TEST(a_panic_in_the_middle_of_a_line_is_printed)
{
    console_start_late();
    in_send = panic_says;
    if (setjmp(panicked) == 0) {
        says("a line\n");
        fail();
    }
    assert_string_equal(printed, "a linepanic: at 0x1000\r\n");
    assert_int_equal(finishes, 1);
    console_finish(); /* again: nothing is printed twice */
    assert_string_equal(printed, "a linepanic: at 0x1000\r\n");
}

/* While it moves what was kept, too: between any two steps of that. */
TEST(nothing_that_is_kept_is_lost)
{
    console_start_late();
    lock.depth = 1;
    says("first\n");
    lock.depth = 0;
    interrupt = interrupt_says;
    says("a line\n");
    console_finish();
    assert_null(interrupt);
    assert_string_equal(printed, "a line\r\nfirst\r\nIRQ\r\n");
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A serial port in causal experiments: one that takes its time, and one that
 * takes none, as that of a virtual machine. */

#include "../unit.h"

#include <prof/causal.h>
#include <prof/port.h>
#include <uart.h>

#include "../../../kernel/console_model.h"

#define TSC_HZ 1000000000u
#define FIFO_CYCLES (TSC_HZ / UART_BAUD * 10 * UART_FIFO)

static bool slow;       /* FIFO_CYCLES for each write */
static uint64_t empty;  /* real time at which it is */
static uint64_t waited; /* for it */
static size_t written;

static uint64_t real_now(void)
{
    return prof_causal_now().real;
}

bool uart_empty(uint16_t port)
{
    assert_int_equal(port, UART_COM2);
    return real_now() >= empty;
}

bool uart_ready(uint16_t port)
{
    uint64_t begin = real_now();

    while (!uart_empty(port))
        continue;
    waited += real_now() - begin;
    return true;
}

size_t uart_write(uint16_t port, const char *text, size_t bytes)
{
    assert_true(uart_empty(port));
    assert_true(bytes != 0 && bytes <= UART_FIFO);
    for (size_t i = 0; i < bytes; i++)
        assert_int_equal(text[i], 'a' + (written + i) % 26);
    written += bytes;
    if (slow)
        empty = real_now() + FIFO_CYCLES;
    return bytes;
}

static PROF_TARGET(target, "target");
static PROF_PROGRESS(point, "point");

static void begin(bool is_slow)
{
    const struct prof_causal_settings settings = {.tsc_hz = TSC_HZ};

    prof_causal_add_target(&target);
    prof_causal_add_progress(&point);
    assert_int_equal(prof_causal_start(&settings), 0);
    assert_int_equal(prof_causal_fix(&target, PROF_ONE / 2), 0);
    slow = is_slow;
    waited = written = 0;
}

/* (bytes) of the alphabet; in all, 26 at a time would repeat it. */
static void write(size_t bytes)
{
    static char text[26 * 8];

    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)('a' + i % 26);
    console_model_write(UART_COM2, text + written % 26, bytes, TSC_HZ);
}

static uint64_t lag(void)
{
    struct prof_moment now = prof_causal_now();

    return now.real - now.virtual_time;
}

TEST(all_is_written)
{
    for (unsigned is_slow = 0; is_slow < 2; is_slow++) {
        begin(is_slow != 0);
        for (size_t bytes = 0; bytes < 60; bytes++) {
            size_t before = written;

            write(bytes);
            assert_int_equal(written, before + bytes);
        }
        prof_causal_stop();
    }
}

/* A target that only waits for the port does not become faster. */
TEST(waits_are_in_no_target)
{
    uint64_t before, real;

    begin(true);
    before = lag();
    real = real_now();
    prof_target_enter(&target);
    write(8 * UART_FIFO);
    prof_target_leave(&target);
    real = real_now() - real;
    assert_true(real >= 7 * (uint64_t)FIFO_CYCLES);
    /* half of what was not waiting, and of a visit's own cost */
    assert_true(lag() - before <= (real - waited) / 2 + FIFO_CYCLES / 8);
    prof_causal_stop();
}

/* While the port sends, the target makes virtual time lag: the port would still
 * be sending when it is ready. */
TEST(the_port_is_not_faster)
{
    struct prof_moment sent;

    begin(true);
    write(UART_FIFO);
    sent = prof_causal_now();
    prof_target_enter(&target);
    while (real_now() < sent.real + FIFO_CYCLES)
        continue;
    prof_target_leave(&target);
    write(1);
    assert_true(prof_causal_time() + FIFO_CYCLES / 8 >=
                sent.virtual_time + FIFO_CYCLES);
    prof_causal_stop();
}

/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A line of 5,000 bytes comes over the serial port, then a command, while all
 * of the profiler is on and the loop has work. The port is one of this test
 * (ldflags): its FIFO has 16 bytes, and is full again a while after it was
 * emptied, as in a virtual machine. With the instruction counter the time until
 * the answer is the same on any host.
 */

#include "guest/guest.h"
#include "guest/tap.h"
#include "guest/wraps.h"

#include <kernel/service.h>
#include <prof/causal.h>
#include <prof/format.h>
#include <prof/loop.h>
#include <prof/trace.h>
#include <stdio.h>
#include <string.h>
#include <uart.h>

#define LONG 5000u
#define REFILL_CYCLES (GUEST_MS / 20)
#define ANSWER_MS_MAX 200u /* a FIFO each millisecond would take 313 */
#define WAIT_MS_MAX 5000u
#define WORK_CYCLES (GUEST_MS / 4)
#define NAMED __attribute__((noinline, noclone))

static const char command[] = "\nhello\n";
static bool feeds;
static uint32_t fed;
static bool refused, answered;
static unsigned timers;

static uint64_t empty_tsc;
static uint32_t in_fifo = UART_FIFO;
static void (*interrupted)(void);

int __wrap_uart_read(uint16_t port);
bool __wrap_uart_listen(uint16_t port, void (*on_input)(void));
uint32_t __real_prof_trace_put_create(uint32_t what,
                                      struct prof_trace_name *site);
uint32_t __wrap_prof_trace_put_create(uint32_t what,
                                      struct prof_trace_name *site);

static bool has_bytes(void)
{
    return feeds && fed < LONG + sizeof command - 1 &&
           (in_fifo != 0 || arch_tsc() - empty_tsc >= REFILL_CYCLES);
}

bool __wrap_uart_listen(uint16_t port, void (*on_input)(void))
{
    if (port == UART_COM1)
        interrupted = on_input;
    return port == UART_COM1;
}

int __wrap_uart_read(uint16_t port)
{
    uint32_t at = fed;

    if (port != UART_COM1 || !has_bytes())
        return -1;
    in_fifo = in_fifo == 0 ? UART_FIFO : in_fifo;
    if (--in_fifo == 0)
        empty_tsc = arch_tsc();
    fed++;
    return at < LONG ? 'x' : command[at - LONG];
}

void __wrap_prof_port_write(const char *text, size_t bytes)
{
    static char line[256];
    static size_t used;

    for (size_t i = 0; i < bytes; i++) {
        if (used < sizeof line - 1)
            line[used++] = text[i];
        if (text[i] != '\n')
            continue;
        line[used] = '\0';
        used = 0;
        refused |= strstr(line, "too long for a command") != NULL;
        answered |= strcmp(line, PROF_ANSWER_MARK "ok hello\n") == 0;
    }
    __real_prof_port_write(text, bytes);
}

uint32_t __wrap_prof_trace_put_create(uint32_t what,
                                      struct prof_trace_name *site)
{
    timers += (what >> 8 & 0xff) == PROF_TRACE_TIMER;
    return __real_prof_trace_put_create(what, site);
}

NAMED void unit_done(void);
NAMED void unit_done(void)
{
    __asm__ volatile("nop; nop; nop; nop; nop; nop; nop");
}

NAMED void half_of_it(void);
NAMED void half_of_it(void)
{
    guest_spin(WORK_CYCLES / 2);
}

/* And the port interrupts, where it has bytes. */
static void work(void *unused)
{
    bool on = arch_interrupts_save();

    (void)unused;
    if (has_bytes())
        interrupted();
    arch_interrupts_restore(on);
    half_of_it();
    guest_spin(WORK_CYCLES / 2);
    unit_done();
}

static uint64_t ms_since(uint64_t begin)
{
    return (arch_tsc() - begin) / GUEST_MS;
}

int service_main(void)
{
    static struct loop_timer timer;
    unsigned timers_before;
    uint64_t begin, ms;

    tap_plan(6);
    loop_every(&timer, NS_PER_MS, work, NULL);
    begin = arch_tsc();
    while (!prof_causal_running() && ms_since(begin) < WAIT_MS_MAX)
        loop_wait(); /* the rate of progress is measured first */
    tap_ok(prof_running() && prof_trace_is_on() && prof_loop_is_on() &&
               prof_causal_running(),
           "all of the profiler is on");
    timers_before = timers;
    feeds = true;
    begin = arch_tsc();
    while (!answered && ms_since(begin) < WAIT_MS_MAX)
        loop_wait();
    ms = ms_since(begin);
    tap_note("answered after %u ms", (unsigned)ms);
    tap_ok(refused, "a line of 5,000 bytes is refused");
    tap_ok(answered, "the command after it is answered");
    tap_is_equal(fed, LONG + sizeof command - 1, "all of them are read");
    tap_is_between(ms, 1, ANSWER_MS_MAX, "its rest is dropped at once");
    tap_is_equal(timers, timers_before,
                 "how the profiler waits for bytes is not in its trace");
    prof_causal_stop();
    return tap_end();
}

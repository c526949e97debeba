/* SPDX-License-Identifier: Apache-2.0 */

#include "console_model.h"

#include <prof/causal.h>
#include <uart.h>

#define BITS_A_BYTE 10u /* with start and stop */

static struct prof_agent agent;
static struct prof_request request; /* the bytes that are being sent */
static bool sending;
static uint64_t cycles; /* that these bytes take at most */

/* They have been sent by now, and perhaps for a while. */
static uint64_t sent_at(void)
{
    uint64_t now = prof_causal_now().real;
    uint64_t last = request.cause.real + cycles;

    return now < last ? now : last;
}

/* Waits until the port is ready, and would be. */
static void wait(uint16_t port)
{
    uint64_t due;

    prof_causal_spin();
    (void)uart_ready(port);
    if (sending) {
        sending = false;
        due = prof_agent_answer(&agent, &request, sent_at());
        while (prof_causal_running() && prof_causal_time() < due)
            continue;
    }
    prof_causal_work();
}

static void begin_model(void)
{
    static struct prof_assumption assumption =
        PROF_ASSUMPTION("serial port: one byte after the other");

    if (assumption.added)
        return;
    prof_agent_init(&agent, PROF_AGENT_SERVERS, 1);
    prof_agent_assume(&agent, &assumption);
    prof_agent_name(&agent, "the serial port");
    prof_causal_assume(&assumption);
}

void console_model_write(uint16_t port, const char *text, size_t bytes,
                         uint64_t tsc_hz)
{
    begin_model();
    while (bytes != 0) {
        size_t some = bytes < UART_FIFO ? bytes : UART_FIFO;

        wait(port);
        (void)uart_write(port, text, some);
        prof_agent_submit(&agent, &request, prof_causal_now());
        /* that of a virtual machine takes no time */
        cycles = uart_empty(port) ? 0 : tsc_hz / UART_BAUD * BITS_A_BYTE * some;
        sending = true;
        text += some;
        bytes -= some;
    }
}

/* SPDX-License-Identifier: Apache-2.0 */

/*
 * prof_poll(): what is due is done, and the next look at it is set to a time.
 * Before that time a call is a comparison.
 */

#include "base/busy.h"
#include "base/cpu.h"
#include "base/options.h"
#include "control/control.h"
#include "aggregate/drain.h"

#include <prof/causal.h>
#include <prof/config.h>
#include <prof/loop_stats.h>
#include <prof/port.h>
#include <prof/prof.h>

/* Between two looks: with a hundred callers at 5 kHz half of the profiler's
 * memory fills up in 4 ms. */
#define LOOK_MS 3u

/* While the bytes of a command come, of which a UART has a few at a time; and
 * the part of a millisecond in which the rest of an overlong one is dropped. */
#define LOOK_SOON_MS 1u
#define DROP_PART 4u

static struct {
    uint64_t due; /* TSC of the next look */
    uint64_t reported_tsc;
    uint32_t cycles_per_ms; /* 0: not open */
    uint32_t reports;       /* tables printed */
} poll;

void prof_poll_open(uint64_t tsc_hz)
{
    poll.cycles_per_ms = (uint32_t)prof_divide(tsc_hz, 1000);
    poll.due = poll.reported_tsc = prof_tsc();
    poll.reports = 0;
}

/* That of the image, or NULL; see pool.c. */
#pragma weak prof_port_read
static int (*volatile port_read)(void) = prof_port_read;

static bool is_due(uint64_t since, uint32_t ms)
{
    return prof_tsc() - since >= (uint64_t)ms * poll.cycles_per_ms;
}

static void drain_if_due(void)
{
    if (!is_due(prof_drain_ended(), prof_drain_ms()))
        return;
    prof_drain();
    prof_causal_step();
}

/* Executes one command at most. Returns whether there may be more. */
static bool read_command(void)
{
    const struct prof_transport *transport =
        PROF_WITH_STREAM ? prof_transport_in_use() : NULL;
    int (*receive)(void) = port_read;

    if (transport != NULL && transport->receive != NULL)
        receive = transport->receive;
    return receive != NULL &&
           prof_command_read(receive, poll.cycles_per_ms / DROP_PART);
}

static void report_if_due(void)
{
    uint32_t every = PROF_OPTION(every_ms), most = PROF_OPTION(reports);

    if (every == 0 || (most != 0 && poll.reports == most))
        return;
    if (!is_due(poll.reported_tsc, every))
        return;
    poll.reported_tsc += (uint64_t)every * poll.cycles_per_ms;
    if (is_due(poll.reported_tsc, every)) /* nobody has polled for long */
        poll.reported_tsc = prof_tsc();
    if (!prof_running() && !prof_loop_is_on())
        return;
    poll.reports++;
    if (prof_running())
        prof_report(); /* with the table of the loop */
    else
        prof_loop_report(PROF_OPTION(loop_rows));
    if (prof_causal_running())
        prof_causal_report();
}

/* Kept out of prof_poll(), so that this needs no stack of its own. */
static __attribute__((noinline)) void look(void)
{
    uint32_t ms, most;

    if (poll.cycles_per_ms == 0 || prof_busy != 0)
        return;
    prof_enter();
    drain_if_due();
    most = read_command() ? LOOK_SOON_MS : LOOK_MS;
    report_if_due();
    ms = prof_drain_ms();
    poll.due = prof_tsc() + (ms < most ? ms : most) * poll.cycles_per_ms;
    prof_leave();
}

void prof_poll(void)
{
    if (prof_tsc() >= poll.due)
        look();
}

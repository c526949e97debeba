/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Chooses the transport of the stream, and ends the stream at exit or in a
 * panic. The transports are the image's own, except shared memory.
 */

#include "base/busy.h"
#include "base/cpu.h"
#include "base/equal.h"
#include "control/control.h"
#include "causal/send.h"
#include "loop/loop.h"
#include "aggregate/accounts.h"
#include "aggregate/drain.h"
#include "aggregate/stacks.h"
#include "stream/stream.h"
#include "tick/clock.h"
#include "tick/kvm.h"
#include "trace/send.h"

#include <prof/config.h>
#include <prof/transport.h>
#include <prof/port.h>
#include <prof/prof.h>

static const struct prof_transport *in_use; /* NULL: none */
static bool chosen;                         /* prof_transport_choose() */

#if PROF_WITH_BUILTIN
/* The built-in transport "serial". Where the console's line is, only the image
 * knows; so each packet begins with the end of a line. */
static bool open_serial(void)
{
    return true;
}

static bool send_serial(const void *packet, size_t bytes)
{
    prof_port_write("\n", 1);
    prof_transport_text(packet, bytes, prof_port_write);
    return true;
}

static const struct prof_transport serial_transport = {
    .name = "serial",
    .open = open_serial,
    .send = send_serial,
};
#endif

/* Losses so far: a stream that begins now emits only later ones. */
static struct prof_stream_losses losses_of(const struct prof_cpu *cpu)
{
    const struct prof_accounts *accounts = prof_accounts_of(cpu);
    struct prof_stream_losses so_far = {
        .missed = prof_clock_of(cpu)->missed,
        .stolen_cycles = accounts->stolen_cycles,
        .dropped = accounts->dropped.samples,
        .dropped_cycles = accounts->dropped.cycles,
    };

    for (uint32_t i = 0; i < PROF_WALK_REASONS; i++)
        so_far.stopped_walks[i] = accounts->stopped[i];
    return so_far;
}

static void open_stream(const struct prof_transport *transport)
{
#if PROF_CPUS_MAX > 1
    static /* too much for a stack */
#endif
        struct prof_stream_settings settings[PROF_CPUS_MAX];

    prof_enter();
    in_use = transport;
    PROF_FOR_EACH_CPU (cpu)
        settings[prof_cpu_number(cpu)] = (struct prof_stream_settings){
            .transport = transport,
            .tree = prof_stacks_find,
            .config = prof_control_config(),
            .losses = losses_of(cpu),
            .steal_clock = PROF_WITH_KVM && prof_kvm_steals_from(cpu),
        };
    prof_stream_open(settings);
    prof_trace_hello();
    prof_causal_send_again();
    prof_leave();
}

static void report_missing(const char *asked,
                           const struct prof_transport *taken)
{
    struct prof_text out;

    prof_text_open(&out, prof_port_write);
    prof_text_string(&out, "prof: prof.out=");
    prof_text_string(&out, asked);
    prof_text_string(&out, prof_equal(asked, prof_shared_memory_transport.name)
                               ? ": no memory for prof.share; "
                               : ": no such device; ");
    if (taken != NULL)
        prof_text_string(&out, "the stream goes to ");
    prof_text_string(&out, taken != NULL ? taken->name : "there is no stream");
    prof_text_char(&out, '\n');
    prof_text_flush(&out);
}

/* The first transport that opens, beginning with the one named (asked), or with
 * the first in (list) if none has that name. The built-in one if it is asked
 * for and the image has none of this name, or none at all. NULL: none opens. */
static const struct prof_transport *
find_transport(const char *asked, const struct prof_transport *list,
               size_t count)
{
    size_t at = 0;

    while (at < count && !prof_equal(list[at].name, asked))
        at++;
#if PROF_WITH_BUILTIN
    if (at == count && (count == 0 || prof_equal(asked, serial_transport.name)))
        return &serial_transport;
#endif
    if (at == count)
        at = 0;
    while (at < count && !list[at].open())
        at++;
    return at < count ? &list[at] : NULL;
}

const struct prof_transport *
prof_transport_choose(const struct prof_transport *list, size_t count)
{
    const char *asked = prof_options()->out;
    const struct prof_transport *taken = NULL;

    chosen = true;
    if (prof_equal(asked, "off")) {
        open_stream(NULL);
        return NULL;
    }
    if (prof_equal(asked, prof_shared_memory_transport.name) &&
        prof_shared_memory_open((size_t)prof_options()->share_kib * 1024,
                                prof_control_config()->image_offset))
        taken = &prof_shared_memory_transport;
    else
        taken = find_transport(asked, list, count);
    if (taken == NULL || !prof_equal(taken->name, asked))
        report_missing(asked, taken);
    open_stream(taken);
    return taken;
}

void prof_transport_default(void)
{
    if (!chosen && !prof_equal(prof_options()->out, "off"))
        (void)prof_transport_choose(NULL, 0);
}

const struct prof_transport *prof_transport_in_use(void)
{
    return in_use;
}

/* What was drained is sent first: draining the rest reads the heap, and damage
 * to the heap may be the cause of the panic. */
void prof_transport_panic(uint32_t code)
{
    prof_stream_push();
    if (prof_stream_on())
        prof_drain_last();
    prof_trace_last(true);
    prof_stream_end(prof_tsc(), code);
}

void prof_transport_use(const struct prof_transport *transport)
{
    open_stream(transport);
}

/* It is the return address in here that samples have. */
void prof_transport_work(void (*work)(void *context), void *context)
{
    work(context);
    __asm__ volatile(""); /* no tail call, with which compiler ever */
}

void prof_transport_end(uint32_t code)
{
    prof_enter();
    prof_trace_last(false);
    prof_loop_send_last();
    prof_causal_send_last();
    prof_stream_end(prof_tsc(), code);
    prof_leave();
}

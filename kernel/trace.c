/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What the recorder of tasks (<prof/trace.h>), the statistics of the event loop
 * (<prof/loop.h>) and causal experiments learn of interrupts, and the recorder
 * of devices. The
 * loop itself (loop.c), the network and the services report what they do
 * themselves.
 */

#include "trace.h"

#include "alarm.h"
#include "prof_cpus.h"

#include <arch/cpu.h>
#include <arch/cpu_number.h>
#include <arch/trap.h>
#include <kernel/loop.h>
#include <kernel/console.h>
#include <prof/causal.h>
#include <prof/config.h>
#include <prof/loop.h>
#include <prof/trace.h>
#include <stdbool.h>
#include <stddef.h>
#include <virtio_irq.h>
#include <virtio_queue.h>

unsigned trace_hides;

#if PROF_WITH_TRACE || PROF_WITH_LOOP || PROF_WITH_CAUSAL

/* Interrupts of the timer, by which is looked at what runs for long. */
static bool is_timers(unsigned vector)
{
    return vector == ARCH_IRQ_BASE || vector == ARCH_IRQ_BASE + ARCH_IRQ_TIMER;
}

/* Interrupts of the kernel are not nested. */
static uint8_t vectors_entered[ARCH_CPUS_MAX];
static uint64_t entered_tsc; /* in a causal experiment */

/* Those are CPU 0's. */
static bool is_in_experiments(void)
{
    return arch_cpu_number() == 0 && prof_causal_running();
}

static void enter_interrupt(unsigned vector)
{
    struct arch_interrupted at;

    vectors_entered[arch_cpu_number()] = (uint8_t)vector;
    if (is_in_experiments())
        entered_tsc = arch_tsc();
    prof_loop_irq_enter();
    prof_trace_irq_enter((uint8_t)vector);
    if (!is_timers(vector) || !prof_loop_is_on())
        return;
    arch_irq_interrupted(__builtin_frame_address(0), &at);
    prof_loop_guard(at.pc, at.sp, at.fp, console_write);
}

/* A device's interrupt leaves its work to the event loop. */
static void interrupted(unsigned device)
{
    uint32_t object;

    loop_asked(device);
    if (!prof_trace_is_on())
        return;
    object = loop_device(device);
    if (object != PROF_TRACE_NONE)
        prof_trace_defer(vectors_entered[arch_cpu_number()], object);
}

static void leave_interrupt(unsigned vector)
{
    prof_trace_irq_exit((uint8_t)vector);
    prof_loop_irq_exit();
    if (arch_cpu_number() != 0)
        return;
    if (prof_causal_running() && entered_tsc != 0)
        prof_causal_except(arch_tsc() - entered_tsc);
    entered_tsc = 0;
}

/* A request is an object from its submission until it is taken from the
 * queue. A buffer that waits for a frame from outside is none: nothing in the
 * program waits for it. */
#define RECEIVE_QUEUE 0u

static PROF_TRACE_SITE(network, "virtio-net request");
static PROF_TRACE_SITE(disk, "virtio-blk request");
static PROF_TRACE_SITE(other, "virtio request");

static uint32_t submitted(unsigned kind, unsigned queue)
{
    struct prof_trace_name *site = &other;

    if (trace_hides != 0 || (kind == VIRTIO_NETWORK && queue == RECEIVE_QUEUE))
        return PROF_TRACE_NONE;
    if (kind == VIRTIO_NETWORK)
        site = &network;
    else if (kind == VIRTIO_BLOCK)
        site = &disk;
    return prof_trace_create(PROF_TRACE_IO, site);
}

static void taken(const struct virtio_request *request)
{
    if (request->number != PROF_TRACE_NONE)
        prof_trace_resolve(request->number);
}

void trace_follow(void)
{
    static bool follows, observes, guards;
    bool on = prof_trace_is_on(), loop = prof_loop_is_on();
    bool observe = on || loop || prof_causal_running();

    if (observe != observes)
        arch_irq_observe(observe ? enter_interrupt : NULL,
                         observe ? leave_interrupt : NULL);
    observes = observe;
    if (loop != guards)
        alarm_while_busy(loop);
    guards = loop;
    virtio_irq_observe(on || loop ? interrupted : NULL);
    if (on == follows)
        return;
    follows = on;
    virtio_observe_put(on ? submitted : NULL);
    virtio_observe(on ? taken : NULL);
    if (on)
        prof_cpus_trace();
}

#else

void trace_follow(void)
{
}

#endif

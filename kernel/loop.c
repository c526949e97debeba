/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event loop. Only the thread uses the queue of timers (timers.c). Before a
 * halt the machine's timer (alarm.h) is set to the first of them; any interrupt
 * ends the halt, after which the loop looks for work, and halts again if there
 * is none. So a sample is no turn of the loop, and a timer is late by no more
 * than the running time of the service's code. The profiler's own timers are
 * called between two halts, which is no turn, either.
 */

#include "alarm.h"
#include "timers.h"

#include <arch/cpu.h>
#include <kernel/clock.h>
#include <arch/cpu_number.h>
#include <kernel/loop.h>
#include <prof/causal.h>
#include <prof/loop.h>
#include <prof/trace.h>
#include <stddef.h>

/* Of each CPU. */
static struct {
    struct loop_source *sources;
    bool in_callback;
    bool stopped;
} loops[ARCH_CPUS_MAX];

#define HERE (&loops[arch_cpu_number()])

/* What causal experiments see is the work of CPU 0. The recorder, and the
 * statistics of the loop, are of each CPU. */
static bool is_seen(void)
{
    return arch_cpu_number() == 0;
}

static bool in_experiment(void)
{
    return is_seen() && prof_causal_running();
}

static void causal_work(void)
{
    if (is_seen())
        prof_causal_work();
}

/* Timers and the work of devices are objects to the recorder. */
static PROF_TRACE_SITE(timer_site, "timer");
static PROF_TRACE_NAME(idle, "idle");

static void insert(struct loop_timer *timer)
{
    timers_insert(timer);
    timer->armed = true;
}

void loop_cancel(struct loop_timer *timer)
{
    timer->period_ns = 0;
    if (timer->trace != PROF_TRACE_NONE)
        prof_trace_cancel(timer->trace);
    timer->trace = PROF_TRACE_NONE;
    if (!timer->armed)
        return;
    timers_remove(timer);
    timer->armed = false;
}

static void arm(struct prof_trace_name *site, struct loop_timer *timer,
                uint64_t delay_ns, loop_callback *callback, void *context)
{
    loop_cancel(timer);
    timer->due_ns = clock_ns() + delay_ns;
    timer->callback = callback;
    timer->context = context;
    timer->site = site;
    timer->trace = timer->own
                       ? PROF_TRACE_NONE
                       : prof_trace_create(PROF_TRACE_TIMER, &timer_site);
    insert(timer);
}

void loop_once_at(struct prof_trace_name *site, struct loop_timer *timer,
                  uint64_t delay_ns, loop_callback *callback, void *context)
{
    arm(site, timer, delay_ns, callback, context);
}

void loop_every_at(struct prof_trace_name *site, struct loop_timer *timer,
                   uint64_t period_ns, loop_callback *callback, void *context)
{
    if (period_ns == 0)
        period_ns = 1;
    arm(site, timer, period_ns, callback, context);
    timer->period_ns = period_ns;
}

static void call_timer(struct loop_timer *timer)
{
    struct prof_loop_frame frame;

    if (in_experiment()) {
        prof_causal_handler((const void *)timer->callback);
        prof_causal_waited(PROF_LIMIT_TIME, timer->site->text);
    }
    prof_loop_begin(&frame, timer->site);
    timer->callback(timer->context); /* which may free it */
    prof_loop_leave(&frame);
    if (is_seen())
        prof_handler_end();
}

/*
 * Removes the first timer from the queue, re-inserts a periodic one at its next
 * multiple of the period after (now_ns), and calls it. In this order, so that
 * the callback may cancel or re-arm its own timer.
 */
static void run_first(uint64_t now_ns)
{
    struct loop_timer *timer = timers_first();
    uint32_t before = prof_trace_current(), object = timer->trace;
    bool once = timer->period_ns == 0, traced = !timer->own;

    causal_work();
    timers_remove(timer);
    timer->armed = false;
    if (!once) {
        uint64_t late_ns = now_ns - timer->due_ns;

        timer->due_ns += (late_ns / timer->period_ns + 1) * timer->period_ns;
        insert(timer);
    } else {
        timer->trace = PROF_TRACE_NONE;
    }
    if (traced)
        prof_trace_switch(object);
    call_timer(timer);
    if (once && traced)
        prof_trace_resolve(object);
    if (traced)
        prof_trace_switch(before);
}

static bool due(uint64_t now_ns)
{
    const struct loop_timer *first = timers_first();

    return first != NULL && first->due_ns <= now_ns;
}

/* ---- answers that are held in causal experiments */

static void run_answer(struct loop_answer *answer)
{
    struct prof_loop_frame frame;

    causal_work();
    prof_handler_begin((const void *)answer->callback);
    if (answer->site == NULL) {
        answer->callback(answer->context);
    } else {
        prof_loop_begin(&frame, answer->site);
        answer->callback(answer->context); /* which may free it */
        prof_loop_leave(&frame);
    }
    prof_handler_end();
}

/* Without room, all that is held is due, and comes first. */
void loop_deliver(struct loop_answer *answer, uint64_t due_tsc)
{
    bool is_held = prof_causal_hold(due_tsc, answer);

    causal_work();
    if (is_held)
        return;
    while (prof_causal_next(&due_tsc) && due_tsc == 0)
        run_answer(prof_causal_take());
    run_answer(answer);
}

void loop_add(struct loop_source *source)
{
    source->next = HERE->sources;
    HERE->sources = source;
}

static bool any_waiting(void)
{
    bool any = false;

    for (const struct loop_source *each = HERE->sources; each != NULL && !any;
         each = each->next)
        any = each->asked_tsc != 0 || each->waiting();
    return any;
}

/* When there is work without an interrupt of a device. */
static uint64_t first_due_ns(void)
{
    const struct loop_timer *first = timers_first();
    uint64_t first_ns = first != NULL ? first->due_ns : UINT64_MAX;

    for (const struct loop_source *each = HERE->sources; each != NULL;
         each = each->next) {
        uint64_t due_ns = each->due_ns != NULL ? each->due_ns() : UINT64_MAX;

        if (due_ns < first_ns)
            first_ns = due_ns;
    }
    return first_ns;
}

/* With interrupts off, and leaves them off. */
static void halt_until_work(void)
{
    uint64_t due_ns = first_due_ns(), now_ns = clock_ns();
    struct prof_loop_frame frame;

    prof_loop_idle(&frame);
    do {
        alarm_set(due_ns, now_ns);
        arch_idle();
        arch_interrupts_off();
        now_ns = clock_ns();
    } while (now_ns < due_ns && !any_waiting());
    alarm_end();
    prof_loop_idle_end(&frame);
}

/* Calls the profiler's timers while they are the first. Returns whether there
 * is nothing else to do. With interrupts off, and leaves them off. */
static bool run_own_timers(void)
{
    const struct loop_timer *first = timers_first();
    uint64_t now_ns;

    if (HERE->in_callback || first == NULL || !first->own)
        return false;
    now_ns = clock_ns();
    if (first->due_ns > now_ns)
        return false;
    arch_interrupts_on();
    HERE->in_callback = true;
    while (due(now_ns) && timers_first()->own)
        run_first(now_ns);
    HERE->in_callback = false;
    arch_interrupts_off();
    return !HERE->stopped && !in_experiment() && !due(clock_ns()) &&
           !any_waiting();
}

/* With interrupts off, and when there is none; leaves them on. */
static void wait_for_work(void)
{
    uint32_t before = prof_trace_current();

    prof_trace_suspend(&idle);
    do
        halt_until_work();
    while (run_own_timers());
    arch_interrupts_on();
    prof_trace_switch(before);
}

/* An interrupt may ask at any moment. */
static uint32_t object_of(struct loop_source *source)
{
    bool on = arch_interrupts_save();

    if (source->trace == PROF_TRACE_NONE || source->trace == PROF_TRACE_UNKNOWN)
        source->trace = prof_trace_create(PROF_TRACE_CALLBACK, source->site);
    arch_interrupts_restore(on);
    return source->trace;
}

static struct loop_source *source_for(unsigned device)
{
    for (struct loop_source *each = HERE->sources; each != NULL;
         each = each->next)
        if (each->device == device && each->site != NULL)
            return each;
    return NULL;
}

uint32_t loop_device(unsigned device)
{
    struct loop_source *source = source_for(device);

    return source != NULL ? object_of(source) : PROF_TRACE_NONE;
}

void loop_asked(unsigned device)
{
    struct loop_source *source = source_for(device);

    if (source != NULL && source->asked_tsc == 0)
        source->asked_tsc = arch_tsc();
}

/* Since when it is asked for. An interrupt may ask again at any moment. */
static uint64_t take_asked(struct loop_source *source)
{
    bool on = arch_interrupts_save();
    uint64_t asked = source->asked_tsc;

    source->asked_tsc = 0;
    arch_interrupts_restore(on);
    return asked;
}

static void run_source(struct loop_source *source)
{
    struct prof_loop_frame frame;
    uint32_t before = prof_trace_current();
    uint64_t asked;
    bool traced;

    if (source->site == NULL) {
        source->turn();
        return;
    }
    /* what an interrupt has asked for has its turn soon, if only to find that
       all is done: else it would be ready for ever */
    asked = source->asked_tsc != 0 ? take_asked(source) : 0;
    traced = prof_trace_is_on() && (asked != 0 || source->waiting());
    if (traced)
        prof_trace_switch(object_of(source));
    prof_loop_begin_asked(&frame, source->site, asked);
    source->turn();
    prof_loop_leave(&frame);
    if (traced)
        prof_trace_switch(before);
}

static void run_sources(void)
{
    for (struct loop_source *each = HERE->sources; each != NULL;
         each = each->next)
        run_source(each);
}

/* After a handler: a device is faster than it is, but the CPU is not. */
static void wait_for_owed(void)
{
    while (is_seen() && prof_causal_owes())
        run_sources();
}

/* Read the clock once: timers that expire meanwhile wait for the next poll, so
 * callbacks that take longer than their period cannot block it. */
static void run_timers(void)
{
    uint64_t now_ns = clock_ns();

    while (due(now_ns)) {
        run_first(now_ns);
        wait_for_owed();
    }
}

/* In an experiment, what has arrived is held first, and then what is due is
 * handled: in the order in which it is, but after timers, as it would be
 * without experiments. Where an answer races with a timer, that decides. */
static void run_answers(void)
{
    uint64_t until = in_experiment() ? prof_causal_time() : 0, due_tsc;

    run_sources();
    if (!is_seen())
        return;
    while (prof_causal_next_by(until, &due_tsc)) {
        struct loop_answer *answer = prof_causal_take();
        bool (*more)(void) = answer->more;

        run_answer(answer); /* which may free it */
        wait_for_owed();
        if (more != NULL && more())
            until = prof_causal_time();
    }
}

/* Not split by the compiler: call stacks show it by its name. */
__attribute__((noinline)) void loop_poll(void)
{
    if (HERE->in_callback)
        return;
    HERE->in_callback = true;
    if (in_experiment())
        prof_causal_turn();
    run_timers();
    run_answers();
    HERE->in_callback = false;
}

bool loop_hold(bool held)
{
    bool before = HERE->in_callback;

    HERE->in_callback = held;
    return before;
}

void loop_wait(void)
{
    arch_interrupts_off();
    if (due(clock_ns()) || any_waiting()) {
        arch_interrupts_on();
    } else if (in_experiment()) {
        /* It does not halt: the tick is too coarse for what is held. */
        prof_causal_spin();
        arch_interrupts_on();
    } else {
        wait_for_work();
    }
    loop_poll();
    causal_work();
}

void loop_run(void)
{
    while (!HERE->stopped)
        loop_wait();
    HERE->stopped = false;
}

void loop_stop(void)
{
    HERE->stopped = true;
}

static bool among(const void *code, uintptr_t begin, size_t bytes)
{
    return (uintptr_t)code - begin < bytes;
}

bool loop_polls(uintptr_t begin, size_t bytes)
{
    static const void *const own[] = {
        (const void *)loop_poll,  (const void *)loop_wait,
        (const void *)loop_run,   (const void *)run_sources,
        (const void *)run_source, (const void *)any_waiting,
        (const void *)run_timers, (const void *)run_answers,
    };

    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (among(own[i], begin, bytes))
            return true;
    for (const struct loop_source *each = HERE->sources; each != NULL;
         each = each->next)
        if (among((const void *)each->waiting, begin, bytes) ||
            among((const void *)each->turn, begin, bytes))
            return true;
    return false;
}

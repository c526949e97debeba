/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event loop. Armed timers stand in a list sorted by when they are due;
 * those due at the same time keep the order in which they were set.
 *
 * Nobody but the thread touches the list: the timer interrupt only counts, and
 * by coming at all ends the halt in arch_idle(), after which the loop looks at
 * the clock. So a timer is late by up to one tick of the kernel while the loop
 * is halted, and by as long as the service likes while it is not.
 */

#include <arch/cpu.h>
#include <kernel/clock.h>
#include <kernel/loop.h>
#include <stddef.h>

static struct loop_timer *queue;
static struct loop_source *sources;
static bool in_callback;
static bool stopped;

static void insert(struct loop_timer *timer)
{
    struct loop_timer **place = &queue;

    while (*place != NULL && (*place)->due_ns <= timer->due_ns)
        place = &(*place)->next;
    timer->next = *place;
    timer->armed = true;
    *place = timer;
}

void loop_cancel(struct loop_timer *timer)
{
    struct loop_timer **place = &queue;

    timer->period_ns = 0;
    if (!timer->armed)
        return;
    while (*place != timer)
        place = &(*place)->next;
    *place = timer->next;
    timer->next = NULL;
    timer->armed = false;
}

static void arm(struct loop_timer *timer, uint64_t delay_ns,
                loop_callback *callback, void *context)
{
    loop_cancel(timer);
    timer->due_ns = clock_ns() + delay_ns;
    timer->callback = callback;
    timer->context = context;
    insert(timer);
}

void loop_once(struct loop_timer *timer, uint64_t delay_ns,
               loop_callback *callback, void *context)
{
    arm(timer, delay_ns, callback, context);
}

void loop_every(struct loop_timer *timer, uint64_t period_ns,
                loop_callback *callback, void *context)
{
    if (period_ns == 0)
        period_ns = 1;
    arm(timer, period_ns, callback, context);
    timer->period_ns = period_ns;
}

/*
 * Takes the first timer off the queue, puts a periodic one in again at its next
 * place on the grid after (now_ns), and calls it. In this order, so that the
 * callback may cancel or re-arm its own timer.
 */
static void run_first(uint64_t now_ns)
{
    struct loop_timer *timer = queue;

    queue = timer->next;
    timer->next = NULL;
    timer->armed = false;
    if (timer->period_ns != 0) {
        uint64_t late_ns = now_ns - timer->due_ns;

        timer->due_ns += (late_ns / timer->period_ns + 1) * timer->period_ns;
        insert(timer);
    }
    timer->callback(timer->context);
}

static bool due(uint64_t now_ns)
{
    return queue != NULL && queue->due_ns <= now_ns;
}

void loop_add(struct loop_source *source)
{
    source->next = sources;
    sources = source;
}

static bool waiting(void)
{
    bool any = due(clock_ns());

    for (const struct loop_source *each = sources; each != NULL && !any;
         each = each->next)
        any = each->waiting();
    return any;
}

void loop_poll(void)
{
    /* one look at the clock: what gets due meanwhile waits for the next poll,
       so that callbacks which take longer than their period cannot hold it */
    uint64_t now_ns = clock_ns();

    if (in_callback)
        return;
    in_callback = true;
    while (due(now_ns))
        run_first(now_ns);
    for (const struct loop_source *each = sources; each != NULL;
         each = each->next)
        each->turn();
    in_callback = false;
}

void loop_wait(void)
{
    arch_interrupts_off();
    if (waiting())
        arch_interrupts_on();
    else
        arch_idle();
    loop_poll();
}

void loop_run(void)
{
    while (!stopped)
        loop_wait();
    stopped = false;
}

void loop_stop(void)
{
    stopped = true;
}

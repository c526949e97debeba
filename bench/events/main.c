/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What an event of <prof/trace.h> costs, in instructions: run under -icount,
 * where the time stamp counter counts them. The call is included, the loop
 * around it is not. Interrupts are off, except for the timer's, which does the
 * same again in its handler.
 *
 * Each line "bench NAME VALUE" is for bench/cost.sh.
 */

#include <arch/cpu.h>
#include <arch/trap.h>
#include <kernel/console.h>
#include <kernel/service.h>
#include <pic.h>
#include <prof/loop.h>
#include <prof/prof.h>
#include <prof/trace.h>

#define ROUNDS 1024u /* seven events each do not fill the ring */
#define BLOCKS 4u
#define MILLION 1000000u
#define LIFE 7u
#define TIMER_LINE 0u

static _Alignas(8) unsigned char memory[1 << 20];

static PROF_TRACE_SITE(site, "here");
static PROF_TRACE_SITE(future_site, "future");
static PROF_TRACE_NAME(name, "name");

static uint32_t last; /* the newest object */

static void nothing(void)
{
}

static void create(void)
{
    last = prof_trace_create(PROF_TRACE_PROMISE, &site);
}

static void read_one(void)
{
    prof_trace_read(last);
}

static void resolve(void)
{
    prof_trace_resolve(last);
}

static void wake(void)
{
    prof_trace_wake(last, last);
}

static void switch_to(void)
{
    prof_trace_switch(last);
}

static void suspend(void)
{
    prof_trace_suspend(&name);
}

static void counter(void)
{
    prof_trace_counter(&name, 7);
}

static void irq(void)
{
    prof_trace_irq_enter(40);
}

/* What (event) costs below so many frames, more than are recorded. */
#define FRAMES 12u

static __attribute__((noinline)) void below(uint32_t frames,
                                            void (*volatile event)(void))
{
    if (frames > 1)
        below(frames - 1, event);
    else
        event();
    __asm__ volatile(""); /* the frame stays until here */
}

static void suspend_below(void)
{
    below(FRAMES, suspend);
}

static void nothing_below(void)
{
    below(FRAMES, nothing);
}

/* A life: LIFE events. */
static void life(void)
{
    create();
    switch_to();
    prof_trace_try_read(last);
    suspend();
    wake();
    read_one();
    resolve();
}

/* Instructions of ROUNDS calls of (event). */
static uint64_t rounds(void (*volatile event)(void))
{
    uint64_t begin = arch_tsc();

    for (uint32_t i = 0; i < ROUNDS; i++)
        event();
    return arch_tsc() - begin;
}

/* Instructions of a call of (event), in hundredths, without its own call. */
static uint64_t cost_of_block(void (*event)(void))
{
    return (rounds(event) - rounds(nothing)) * 100 / ROUNDS;
}

static uint64_t cost(void (*event)(void))
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < BLOCKS; i++) {
        prof_drain();
        sum += cost_of_block(event);
    }
    prof_drain();
    return sum / BLOCKS;
}

static void emit(const char *row, uint64_t hundredths)
{
    console_line("bench %s %u.%02u", row, (unsigned)(hundredths / 100),
                 (unsigned)(hundredths % 100));
}

static uint64_t in_interrupt;
static volatile bool served;

static void on_tick(void)
{
    if (!served)
        in_interrupt = cost_of_block(life) / LIFE;
    served = true;
    pic_eoi(TIMER_LINE);
}

static void interrupts(void)
{
    arch_irq_handle(TIMER_LINE, on_tick);
    arch_interrupts_on();
    while (!served)
        ;
    arch_interrupts_off();
}

static bool with_stacks(void)
{
    struct prof_trace_stats stats;

    if (prof_option("prof.trace=flight") != 0 ||
        prof_option("prof.trace_stacks=8") != 0 || prof_trace_start() != 0)
        return false;
    create();
    switch_to();
    suspend_below();
    emit("event_stack",
         (rounds(suspend_below) - rounds(nothing_below)) * 100 / ROUNDS);
    prof_trace_stats(&stats);
    /* All callers that are recorded are in below(): one stack. */
    return stats.stacks == 1 && stats.stacks_lost == 0;
}

/* Each event by itself, and the mean of a life. */
static void each(void)
{
    create();
    suspend();
    emit("event_create", cost(create));
    emit("event_read", cost(read_one));
    emit("event_resolve", cost(resolve));
    emit("event_wake", cost(wake));
    emit("event_switch", cost(switch_to));
    emit("event_suspend", cost(suspend));
    emit("event_counter", cost(counter));
    emit("event_irq", cost(irq));
    emit("event_mean", cost(life) / LIFE);
}

static void million(void)
{
    for (uint32_t i = 0; i < MILLION; i++) {
        create();
        if (i % ROUNDS == 0)
            prof_drain();
    }
    emit("event_million", cost(life) / LIFE);
    emit("event_million_create", cost(create));
    emit("event_million_resolve", cost(resolve));
}

/* Statistics of the event loop: a task that has waited runs, and pauses. */
static _Alignas(8) unsigned char loop_memory[PROF_LOOP_MEMORY_MIN];
static struct prof_loop_task task;

/* Longer than the 64 cycles below which times are counted elsewhere. */
static void work(void)
{
    for (uint32_t i = 0; i < 64; i++)
        __asm__ volatile("");
}

static void two_works(void)
{
    work();
    work();
}

static void loop_turn(void)
{
    prof_loop_wake(&task);
    work();
    prof_loop_run(&task);
    work();
    prof_loop_pause(&task);
}

static void not_ready(void)
{
    task.ready = UINT64_MAX;
}

static void loop_wake(void)
{
    not_ready();
    prof_loop_wake(&task);
}

static void loop_create(void)
{
    task = (struct prof_loop_task){0};
    prof_loop_create(&task, &site, 0);
    prof_loop_end(&task, PROF_LOOP_RESOLVED);
}

/* The same where calls are counted; and a future. */
static void loop_call(void)
{
    task = (struct prof_loop_task){0};
    prof_loop_create(&task, &site, 1);
    prof_loop_end(&task, PROF_LOOP_RESOLVED);
}

static void loop_future(void)
{
    prof_loop_future(&future_site, 2);
    work();
    prof_loop_future_end(&future_site, 2, PROF_LOOP_RESOLVED);
}

static bool calls_rows(uint64_t wake)
{
    static uint64_t records[2 * 64];

    if (sizeof records < prof_loop_calls_bytes(48) ||
        prof_loop_count_calls(records, 48) != 0)
        return false;
    emit("loop_calls_create", cost(loop_call));
    task = (struct prof_loop_task){0};
    prof_loop_create(&task, &site, 1);
    for (uint32_t i = 0; i < 4; i++)
        (void)rounds(loop_turn); /* its pages */
    emit("loop_calls_turn", cost(loop_turn) - cost(two_works) - wake);
    for (uint32_t i = 0; i < 4; i++)
        (void)rounds(loop_future);
    emit("loop_future", cost(loop_future) - cost(work));
    return true;
}

static bool loop_rows(void)
{
    uint64_t wake;

    if (prof_loop_open(loop_memory, sizeof loop_memory, 1000000000) != 0)
        return false;
    emit("loop_create", cost(loop_create));
    task = (struct prof_loop_task){0};
    prof_loop_create(&task, &site, 0);
    wake = cost(loop_wake) - cost(not_ready);
    for (uint32_t i = 0; i < 4; i++)
        (void)rounds(loop_turn); /* its pages */
    emit("loop_wake", wake);
    emit("loop_turn", cost(loop_turn) - cost(two_works) - wake);
    return calls_rows(wake);
}

/* A flight recorder in which nobody drains: once around, then as before. */
static void undrained(void)
{
    for (uint32_t i = 0; i < BLOCKS; i++)
        (void)rounds(life);
    emit("event_undrained", cost_of_block(life) / LIFE);
}

int service_main(void)
{
    arch_interrupts_off();
    emit("event_off", cost(read_one));
    if (prof_trace_open(memory, sizeof memory) != 0 ||
        prof_trace_set_mode(PROF_TRACE_FLIGHT) != 0)
        return 1;
    each();
    interrupts();
    emit("event_in_interrupt", in_interrupt);
    undrained();
    million();
    if (!loop_rows())
        return 1;
    return with_stacks() ? 0 : 1;
}

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
#include <prof/prof.h>
#include <prof/trace.h>

#define ROUNDS 4096u
#define MILLION 1000000u
#define TIMER_LINE 0u

static _Alignas(8) unsigned char memory[1 << 20];

static PROF_TRACE_SITE(site, "here");
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

/* A life: seven events. */
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

/* Instructions of a call of (event), in hundredths, with its own call. */
static uint64_t raw_cost(void (*volatile event)(void))
{
    uint64_t begin = arch_tsc();

    for (uint32_t i = 0; i < ROUNDS; i++)
        event();
    return (arch_tsc() - begin) * 100 / ROUNDS;
}

static uint64_t cost(void (*event)(void))
{
    return raw_cost(event) - raw_cost(nothing);
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
        in_interrupt = cost(life) / 7;
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
    emit("event_stack", raw_cost(suspend_below) - raw_cost(nothing_below));
    prof_trace_stats(&stats);
    return stats.stacks == 2 && stats.stacks_lost == 0;
}

int service_main(void)
{
    arch_interrupts_off();
    emit("event_off", cost(read_one));
    if (prof_trace_open(memory, sizeof memory) != 0 ||
        prof_trace_set_mode(PROF_TRACE_FLIGHT) != 0)
        return 1;
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
    emit("event_mean", cost(life) / 7);
    interrupts();
    emit("event_in_interrupt", in_interrupt);
    for (uint32_t i = 0; i < MILLION; i++)
        create();
    emit("event_million", cost(life) / 7);
    return with_stacks() ? 0 : 1;
}

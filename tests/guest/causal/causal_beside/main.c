/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Experiments on patched functions beside all else that looks at stacks and at
 * the time: the sampler, the recorder, the statistics of the loop with their
 * guard, and at the end a panic. What each of them says is checked by
 * tests/causal. QEMU counts instructions, so that times are known.
 */

#include <kernel/clock.h>
#include <kernel/loop.h>
#include <kernel/panic.h>
#include <kernel/service.h>
#include <kernel/task.h>
#include <prof/causal.h>
#include <prof/prof.h>
#include <prof/trace.h>
#include <stddef.h>

#define NAMED __attribute__((noinline, noclone))
#define ROUNDS 2000u
#define HELD_CYCLES 200000000u
#define NO_TAIL_CALL() __asm__ volatile("")

static PROF_TRACE_NAME(real_time, "real");
static PROF_TRACE_NAME(virtual_time, "virtual");
static struct loop_timer hold_timer;
static uint32_t round;

NAMED void works_half(void);
NAMED void works_third(void);
NAMED void works_rest(void);
NAMED void waits_inside(void);
NAMED void round_done(void);
NAMED void spins(void);
NAMED void holds(void);
NAMED void calls_holds(void);
NAMED void dies(void);
NAMED void calls_dies(void);

static inline void spin_for(uint32_t instructions)
{
    uint32_t rounds = instructions / 2;

    __asm__ volatile("1: dec %0\n\t"
                     "jnz 1b"
                     : "+r"(rounds)
                     :
                     : "cc");
}

/*
 * That many instructions on average. A round that always took the same time
 * would be in step with the sampling tick: so each takes between half and
 * three halves, and over all rounds each length once.
 */
static inline void work_about(uint32_t mean, uint32_t step)
{
    spin_for(mean / 2 + round * step % ROUNDS * (mean / ROUNDS));
}

NAMED void works_half(void)
{
    work_about(100000, 739);
    NO_TAIL_CALL();
}

NAMED void works_third(void)
{
    work_about(60000, 1237);
    NO_TAIL_CALL();
}

NAMED void works_rest(void)
{
    work_about(40000, 1531);
    NO_TAIL_CALL();
}

NAMED void waits_inside(void)
{
    works_half();
    task_await(promise_sleep(20000));
    works_third();
}

NAMED void round_done(void)
{
    prof_trace_counter(&real_time, clock_real_ns());
    prof_trace_counter(&virtual_time, clock_ns());
}

static uintptr_t serve(void *unused)
{
    (void)unused;
    for (round = 0; round < ROUNDS; round++) {
        waits_inside();
        works_rest();
        round_done();
    }
    loop_stop();
    return 0;
}

/* ---- the guard, and a panic */

NAMED void spins(void)
{
    spin_for(HELD_CYCLES);
}

NAMED void holds(void)
{
    spins();
    NO_TAIL_CALL();
}

NAMED void calls_holds(void)
{
    holds();
    NO_TAIL_CALL();
}

NAMED void dies(void)
{
    panic("as it should");
}

NAMED void calls_dies(void)
{
    dies();
    NO_TAIL_CALL();
}

static void on_hold(void *unused)
{
    (void)unused;
    calls_holds();
    calls_dies();
}

static void begin(void)
{
    static const char *const targets[] = {"works_half", "works_third",
                                          "waits_inside", "holds", "dies"};
    struct prof_causal_settings settings = {.tsc_hz = clock_tsc_hz()};

    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (prof_causal_add_function(targets[i], PROF_CAUSAL_TARGET) != 0)
            panic("a function cannot be patched");
    if (prof_causal_add_function("round_done", PROF_CAUSAL_PROGRESS) != 0 ||
        prof_causal_start(&settings) != 0)
        panic("no experiments");
}

int service_main(void)
{
    begin();
    promise_free(task_start("serve", serve, NULL));
    loop_run();
    loop_once(&hold_timer, 0, on_hold, NULL);
    loop_run();
    return 0;
}

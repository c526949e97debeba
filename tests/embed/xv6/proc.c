/* SPDX-License-Identifier: Apache-2.0 */

/* What the CPUs do (kernel.c). */

#include "types.h"

#include "defs.h"
#include "proc.h"

#include "../pc.h"
#include "../work.h"

#include "../cpu_accounts.h"

#include <prof/prof.h>
#include <stdbool.h>

#define TICKS_MIN 400u /* of each CPU */

static volatile unsigned ptable_lock, file_lock;
static volatile bool ended, stopped[CPUS];

void wakeup(void *channel)
{
    (void)channel; /* nobody sleeps */
}

static __attribute__((noinline)) void acquire(volatile unsigned *lock)
{
    __asm__ volatile("cli");
    while (__atomic_exchange_n(lock, 1, __ATOMIC_SEQ_CST) != 0)
        ;
}

static void release(volatile unsigned *lock)
{
    __atomic_store_n(lock, 0, __ATOMIC_SEQ_CST);
    __asm__ volatile("sti");
}

static __attribute__((noinline)) void compute(void)
{
    acquire(&file_lock);
    spend(100000);
    release(&file_lock);
}

/* CPU 0, when the others have stopped. */
static void finish(void)
{
    __asm__ volatile("cli");
    if (nmis != 0)
        pc_exit(1);
    prof_stop();
    prof_report();
    (void)prof_option("prof.report=folded");
    prof_report();
    pc_exit(accounts_add_up(CPUS) ? 0 : 2);
}

static void run_process(int cpu)
{
    if (cpu == 1)
        compute();
    if (cpu != 0)
        return;
    answer();
    if (!have_ticks(CPUS, TICKS_MIN))
        return;
    ended = true;
    for (int i = 1; i < CPUS; i++)
        while (!stopped[i])
            ;
    finish();
}

void scheduler(void)
{
    int cpu = cpuid();

    while (!ended) {
        acquire(&ptable_lock);
        release(&ptable_lock);
        run_process(cpu);
    }
    stopped[cpu] = true;
    for (;;)
        __asm__ volatile("cli; hlt");
}

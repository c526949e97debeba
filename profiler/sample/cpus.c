/* SPDX-License-Identifier: Apache-2.0 */

/* The CPUs' states before they join. */

#include "sample/cpus.h"

#include <prof/config.h>
#include <stddef.h>

#if PROF_CPUS_MAX > 1

struct prof_cpu_link prof_cpu_links[PROF_CPUS_MAX];
uint32_t prof_cpu_limit;

#ifdef PROF_HOSTED
struct prof_cpu *prof_cpu_hosted = PROF_CPU_FIRST;
#else
struct prof_cpu_key prof_cpu_keys[PROF_CPU_KEYS] = {
    [0 ... PROF_CPU_KEYS - 1] = {PROF_CPU_NOBODY},
};
#endif

/* The vector of all that have not joined: after each entry the next one is the
 * same, and it is never full, as nobody's tail is in it. */
static void open_nobody(void)
{
    static PROF_OWN_LINE struct prof_entry entry;
    struct prof_cpu *cpu = PROF_CPU_NOBODY;

    *cpu = (struct prof_cpu){.stack = &cpu->stacks[0]};
    prof_ring_open(&cpu->ring, &entry, &entry + 1);
    cpu->ring.tail = NULL;
}

bool prof_cpus_open(uint32_t cpus)
{
    bool identified = true;

#ifdef PROF_HOSTED
    prof_cpu_hosted = PROF_CPU_FIRST;
#else
    uint32_t key = prof_cpu_key_here();

    /* with no TSS, all CPUs would be the first */
    identified = cpus == 1 || PROF_CPU_BY != PROF_CPU_BY_TASK || key != 0;
    prof_cpu_keys[key].cpu = PROF_CPU_FIRST;
    prof_cpu_links[0].key = key;
#endif
    open_nobody();
    for (uint32_t i = 0; i < cpus; i++) {
        prof_cpus[i].stack = &prof_cpus[i].stacks[0];
        prof_stack_bounds_set(&prof_cpus[i].stacks[0], 0, 0);
        prof_cpus[i].unknown_stack = true;
        prof_cpu_links[i].state = i == 0 ? PROF_CPU_JOINED : PROF_CPU_FREE;
    }
    prof_cpu_limit = cpus;
    return identified;
}

#ifdef PROF_HOSTED

void prof_cpu_keep_number(uint32_t number)
{
    (void)number;
}

bool prof_cpu_may_be(uint32_t number)
{
    (void)number;
    return true;
}

bool prof_cpu_was(const struct prof_cpu *cpu)
{
    return cpu == prof_cpu_hosted;
}

#else

void prof_cpu_keep_number(uint32_t number)
{
    __atomic_store_n(&prof_cpu_links[number].kept, prof_cpu_key_here() + 1,
                     __ATOMIC_RELAXED);
}

bool prof_cpu_may_be(uint32_t number)
{
    uint32_t here = prof_cpu_key_here() + 1, kept;

    for (uint32_t i = 1; i < prof_cpu_limit; i++) {
        kept = __atomic_load_n(&prof_cpu_links[i].kept, __ATOMIC_RELAXED);
        if (i == number ? kept != 0 && kept != here : kept == here)
            return false;
    }
    return true;
}

bool prof_cpu_was(const struct prof_cpu *cpu)
{
    return prof_cpu_link(cpu)->key == prof_cpu_key_here();
}

#endif

void prof_cpus_forget(struct prof_cpu *cpu)
{
#ifdef PROF_HOSTED
    (void)cpu;
#else
    struct prof_cpu_key *key = &prof_cpu_keys[prof_cpu_link(cpu)->key];

    if (key->cpu == cpu) /* it may have failed to get it */
        key->cpu = PROF_CPU_NOBODY;
#endif
}

#endif

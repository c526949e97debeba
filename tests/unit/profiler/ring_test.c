/* SPDX-License-Identifier: Apache-2.0 */

/* The fixed vector is one CPU's: several of them, each with its own producer,
 * and one consumer of all, who takes turns; nothing is lost, torn or mixed up,
 * and no producer waits for what another one does. */

#include "../unit.h"

#include "sample/ring.h"
#include <pthread.h>
#include <sched.h>

#define CPUS 3u
#define ENTRIES 16u
#define SAMPLES 20000u

struct cpu {
    struct prof_ring ring;
    struct prof_entry entries[ENTRIES];
    uint32_t number;
};

static struct cpu cpus[CPUS];

static void open_ring(struct cpu *cpu, uint32_t number)
{
    *cpu = (struct cpu){.number = number};
    prof_ring_open(&cpu->ring, cpu->entries, cpu->entries + ENTRIES);
}

/* Every field of sample (i) follows from the CPU and (i). */
static void push(struct cpu *cpu, uint32_t i)
{
    uintptr_t pc = (uintptr_t)cpu->number << 24 | i;

    prof_ring_push(&cpu->ring, pc, (uint64_t)pc << 32 | (uint32_t)~pc, i % 7);
}

static void assert_is(const struct prof_entry *entry, const struct cpu *cpu,
                      uint32_t i)
{
    uintptr_t pc = (uintptr_t)cpu->number << 24 | i;

    assert_int_equal(entry->pc, pc);
    assert_true(prof_entry_tsc(entry) == ((uint64_t)pc << 32 | (uint32_t)~pc));
    assert_int_equal(entry->frames, i % 7);
}

static void *produce(void *context)
{
    struct cpu *cpu = context;

    for (uint32_t i = 0; i < SAMPLES;) {
        if (prof_ring_full(&cpu->ring))
            sched_yield();
        else
            push(cpu, i++);
    }
    return NULL;
}

/* Takes what (cpu) has now; (taken) samples came before. Returns how many. */
static uint32_t consume(struct cpu *cpu, uint32_t taken)
{
    struct prof_entry *at = cpu->ring.tail;
    struct prof_entry *head = prof_ring_head(&cpu->ring);
    uint32_t more = 0;

    for (; at != head; at = prof_ring_next(&cpu->ring, at))
        assert_is(at, cpu, taken + more++);
    prof_ring_release(&cpu->ring, at);
    return more;
}

TEST(each_cpu_has_a_vector_of_its_own)
{
    pthread_t threads[CPUS];
    uint32_t taken[CPUS] = {0};
    uint32_t all = 0;

    for (uint32_t i = 0; i < CPUS; i++) {
        open_ring(&cpus[i], i + 1);
        pthread_create(&threads[i], NULL, produce, &cpus[i]);
    }
    while (all < CPUS * SAMPLES) {
        for (uint32_t i = 0; i < CPUS; i++) {
            uint32_t more = consume(&cpus[i], taken[i]);

            taken[i] += more;
            all += more;
        }
        sched_yield();
    }
    for (uint32_t i = 0; i < CPUS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(taken[i], SAMPLES);
        assert_ptr_equal(cpus[i].ring.head, cpus[i].ring.tail);
    }
}

TEST(a_full_vector_is_no_other_cpus_concern)
{
    for (uint32_t i = 0; i < 2; i++)
        open_ring(&cpus[i], i);
    for (uint32_t i = 0; i < ENTRIES - 1; i++)
        push(&cpus[0], i);
    assert_true(prof_ring_full(&cpus[0].ring));
    for (uint32_t i = 0; i < 5 * ENTRIES; i++) {
        assert_false(prof_ring_full(&cpus[1].ring));
        push(&cpus[1], i);
        assert_int_equal(consume(&cpus[1], i), 1);
    }
    assert_int_equal(consume(&cpus[0], 0), ENTRIES - 1);
}

/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A kernel of 32 bits, with pages of 4 MiB without PAE, an IDT and a scheduler
 * of its own. Its tasks pass each request on, reader, worker, writer, and then
 * the reader takes the next one. Of the time that they compute, one part in ten
 * is read()'s, six are work()'s and three write()'s.
 */

#include "kernel.h"

#include "task.h"

#include <prof/causal.h>

extern const char timer_entry[], fault_entry[];
void load_idt(const void *pointer);
void wait_for_interrupt(void);
void timer_interrupt(void);
void kernel_main(const uint32_t *information);

#define BATCH 48u

volatile uint32_t kernel_ticks;
static uint32_t idt[256][2];
static struct task reader, worker, writer;
static unsigned to_work, to_write;
static unsigned size; /* of the request, 50 to 150 */
static uint64_t pause_cycles = 4000000;
static PROF_PROGRESS(written, "written");
static PROF_TARGET(working, "work");

void timer_done(void)
{
    pc_pic_done(PC_LINE_PIT);
}

void timer_interrupt(void)
{
    kernel_ticks++;
    timer_done();
}

uint64_t kernel_time(void)
{
    return prof_causal_time();
}

static void set_gate(unsigned vector, const char *entry)
{
    uint32_t address = (uint32_t)entry;

    idt[vector][0] = (address & 0xffff) | 0x80000;
    idt[vector][1] = (address & 0xffff0000) | 0x8e00;
}

static void start_interrupts(void)
{
    struct {
        uint16_t limit;
        uint32_t base;
    } __attribute__((packed)) pointer = {sizeof idt - 1, (uint32_t)idt};

    for (unsigned vector = 0; vector < 32; vector++)
        set_gate(vector, fault_entry);
    set_gate(PC_VECTOR, timer_entry);
    load_idt(&pointer);
    pc_pic_start(1 << PC_LINE_PIT);
    pc_pit_start(KERNEL_DIVISOR);
    __asm__ volatile("sti");
}

static void spend(unsigned steps)
{
    while (steps-- > 0)
        __asm__ volatile("" : : : "memory");
}

static __attribute__((noinline)) void read(void)
{
    spend(10 * size);
}

static __attribute__((noinline)) void work(void)
{
    spend(60 * size);
}

static __attribute__((noinline)) void write(void)
{
    spend(30 * size);
}

/* Requests of one size would stay in step with the tick, and a few phases of
 * them would have all samples. */
static unsigned next_size(void)
{
    static uint32_t random = 1;

    random = random * 1664525 + 1013904223;
    return 50 + (random >> 16) % 101;
}

static void read_all(void)
{
    for (;;) {
        for (unsigned i = 0; i < BATCH; i++) {
            size = next_size();
            read();
            to_work++;
            task_wake(&worker);
            task_wait();
        }
        task_sleep(pause_cycles);
    }
}

static void work_all(void)
{
    for (;;) {
        for (; to_work > 0; to_work--) {
            prof_target_enter(&working);
            work();
            prof_target_leave(&working);
            to_write++;
            task_wake(&writer);
        }
        task_wait();
    }
}

static void write_all(void)
{
    for (;;) {
        for (; to_write > 0; to_write--) {
            write();
            prof_progress(&written);
            task_wake(&reader);
        }
        task_wait();
    }
}

/* Until the next interrupt. */
static void wait(void)
{
    struct prof_loop_frame idle;

    prof_loop_idle(&idle);
    wait_for_interrupt();
    prof_loop_idle_end(&idle);
}

/* Whether (word) is one of (line). */
static bool has_word(const char *line, const char *word)
{
    while (*line != '\0') {
        const char *w = word;

        for (; *w != '\0' && *line == *w; line++)
            w++;
        if (*w == '\0' && (*line == '\0' || *line == ' '))
            return true;
        while (*line != '\0' && *line++ != ' ')
            ;
    }
    return false;
}

void kernel_main(const uint32_t *information)
{
    const char *line = (information[0] & 4) != 0 ? (char *)information[4] : "";

    if (has_word(line, "busy"))
        pause_cycles = 0;
    start_interrupts();
    if (profiler_start(line) != 0)
        pc_exit(1);
    if (!has_word(line, "by_name")) {
        prof_causal_add_progress(&written);
        prof_causal_add_target(&working);
    }
    task_create(&reader, "reader", read_all);
    task_create(&worker, "worker", work_all);
    task_create(&writer, "writer", write_all);
    while (kernel_ticks < 250) {
        prof_poll();
        if (!task_run_all())
            wait();
    }
    (void)prof_option("prof.report=folded");
    prof_report();
    pc_exit(0);
}

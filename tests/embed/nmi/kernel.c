/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A kernel of 32 bits that answers requests (work.h), and has the PIT and the
 * I/O APIC in one of these ways, by a word on its command line:
 *
 *   (none)      it uses neither, and never turns interrupts on
 *   late        the same, but it sets up the I/O APIC after the profiler has
 *               started: all entries are masked, with vectors of its own
 *   pit=pic     its tick is the PIT's, by the PIC
 *   pit=ioapic  the same by the I/O APIC's entry 2
 *
 * In the end it looks whether it has had all of its ticks, and whether that
 * entry is as it has written it.
 */

#include "kernel.h"

#include "../work.h"

#include <prof/prof.h>
#include <stdbool.h>

#define REQUESTS 8000u
#define LATE_AFTER 2000u /* requests */

#define DIVISOR 11932u
#define TICK_NS 10000151u
#define OFF_BY 3u

/* Intel SDM vol. 3A, 11.4; 82093AA, 3.2 */
#define APIC 0xfee00000u
#define APIC_ID 0x20u
#define APIC_EOI 0xb0u
#define APIC_SPURIOUS 0xf0u
#define SPURIOUS_ENABLED 0x1ffu
#define SPURIOUS_VECTOR 255u
#define IOAPIC 0xfec00000u
#define IOAPIC_WINDOW 0x10u
#define IOAPIC_ENTRIES 24u
#define IOAPIC_PIT 2u
#define IOAPIC_MASKED 0x10000u

#define INFORMATION_LINE 4u /* Multiboot: flag, and word, of the command line */

extern const char tick_entry[], spurious_entry[];
extern uint32_t idt[256][2];
void tick(void);
void kernel_main(const uint32_t *information);

void (*acknowledge)(void);
static volatile uint32_t ticks;

static volatile uint32_t *at(uint32_t address)
{
    return (volatile uint32_t *)address;
}

static uint64_t now(void)
{
    uint32_t low, high;

    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
}

static bool has_word(const char *line, const char *word)
{
    for (; *line != '\0'; line++) {
        size_t same = 0;

        while (word[same] != '\0' && line[same] == word[same])
            same++;
        if (word[same] == '\0')
            return true;
    }
    return false;
}

/* ---- interrupts */

static void acknowledge_pic(void)
{
    pc_pic_done(PC_LINE_PIT);
}

static void acknowledge_apic(void)
{
    *at(APIC + APIC_EOI) = 0;
}

/* tick_entry calls it. */
void tick(void)
{
    ticks++;
    acknowledge();
}

static void set_gate(unsigned vector, const char *entry)
{
    uint32_t address = (uint32_t)entry;

    idt[vector][0] = (address & 0xffff) | 0x80000;
    idt[vector][1] = (address & 0xffff0000) | 0x8e00;
}

static uint32_t entry_low(unsigned number)
{
    *at(IOAPIC) = 0x10 + 2 * number;
    return *at(IOAPIC + IOAPIC_WINDOW);
}

static void set_entry(unsigned number, uint32_t low)
{
    *at(IOAPIC) = 0x11 + 2 * number;
    *at(IOAPIC + IOAPIC_WINDOW) = *at(APIC + APIC_ID);
    *at(IOAPIC) = 0x10 + 2 * number;
    *at(IOAPIC + IOAPIC_WINDOW) = low;
}

static void set_up_ioapic(void)
{
    for (unsigned i = 0; i < IOAPIC_ENTRIES; i++)
        set_entry(i, IOAPIC_MASKED | (IOAPIC_VECTOR + i));
}

/* ---- the run */

/* Its tick, and where it comes from. */
static uint8_t start_tick(bool by_ioapic)
{
    uint8_t vector = by_ioapic ? IOAPIC_VECTOR : PC_VECTOR + PC_LINE_PIT;

    acknowledge = by_ioapic ? acknowledge_apic : acknowledge_pic;
    set_gate(vector, tick_entry);
    pc_pit_start(DIVISOR);
    if (by_ioapic)
        set_entry(IOAPIC_PIT, IOAPIC_VECTOR);
    else
        pc_pic_unmask(PC_LINE_PIT);
    return vector;
}

static bool has_all_ticks(uint64_t begin)
{
    uint32_t due = (uint32_t)((now() - begin) >> 10) / (TICK_NS >> 10);

    return ticks + OFF_BY >= due && ticks <= due + OFF_BY;
}

static void answer_all(bool late)
{
    for (unsigned i = 0; i < REQUESTS; i++) {
        if (late && i == LATE_AFTER)
            set_up_ioapic();
        answer();
        prof_poll();
    }
}

void kernel_main(const uint32_t *information)
{
    const char *line = (information[0] & INFORMATION_LINE) != 0
                           ? (const char *)information[4]
                           : "";
    bool late = has_word(line, "late"),
         by_ioapic = has_word(line, "pit=ioapic"),
         has_tick = by_ioapic || has_word(line, "pit=pic");
    uint8_t vector = 0;
    uint32_t entry;
    uint64_t begin;

    pc_pic_start(0);
    *at(APIC + APIC_SPURIOUS) = SPURIOUS_ENABLED;
    set_gate(SPURIOUS_VECTOR, spurious_entry);
    if (has_tick)
        vector = start_tick(by_ioapic);
    begin = now();
    if (profiler_start(line, has_tick ? DIVISOR : 0, vector) != 0)
        pc_exit(1);
    if (has_tick)
        __asm__ volatile("sti");
    answer_all(late);
    prof_stop();
    __asm__ volatile("cli");
    if (has_tick && !has_all_ticks(begin))
        pc_exit(2);
    entry = entry_low(IOAPIC_PIT) & ~0x5000u; /* but for its state */
    if ((late && entry != (IOAPIC_MASKED | (IOAPIC_VECTOR + IOAPIC_PIT))) ||
        (by_ioapic && entry != IOAPIC_VECTOR))
        pc_exit(3);
    (void)prof_option("prof.report=folded");
    prof_report();
    pc_exit(0);
}

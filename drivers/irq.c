/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A PIC is used where there is one: an interrupt costs it one port, or two,
 * while an IO-APIC's is acknowledged in memory, but what samples and what
 * embeds the profiler knows the PIC's lines. Beside it, an IO-APIC has only the
 * inputs that the PIC has not. Where the firmware has no ACPI tables, an
 * IO-APIC is tried at the address that it has on every PC, with the PIT at its
 * input 2 (Intel, MultiProcessor Specification 1.4, 3.6.2). It is there with
 * QEMU's microvm, too, whose tables do not say so; where they say nothing of
 * the PIT, both inputs 0 and 2 have its line, since nothing else is at 2.
 */

#include "irq.h"

#include "ioapic.h"
#include "pic.h"

#include <arch/apic.h>
#include <arch/cpu.h>
#include <arch/trap.h>

#define PIC_LINES 16u
#define TIMER_LINE 0u
#define TIMER_INPUT 2u
#define LOWEST_MASTER 7u
#define LOWEST_SLAVE 15u

static bool has_pic;
static bool is_routed[ARCH_IRQ_COUNT]; /* to an IO-APIC's input */
static struct acpi_input inputs[ARCH_IRQ_COUNT];
static uint32_t timer_gsi;

static void find_ioapics(void)
{
    struct acpi_interrupts found;

    if (!acpi_interrupts(&found) && ioapic_add(IOAPIC_DEFAULT, 0))
        found.isa[TIMER_LINE].gsi = TIMER_INPUT;
    timer_gsi = found.isa[TIMER_LINE].gsi;
    for (unsigned i = 0; i < found.io_apics; i++)
        (void)ioapic_add(found.io_apic[i].address, found.io_apic[i].first_gsi);
    for (unsigned line = 0; line < PIC_LINES && !has_pic; line++) {
        is_routed[line] = ioapic_has(found.isa[line].gsi);
        inputs[line] = found.isa[line];
    }
}

bool irq_start(void)
{
    has_pic = pic_present();
    if (has_pic)
        pic_start();
    if (arch_apic_start())
        find_ioapics();
    return has_pic || ioapic_count() != 0;
}

bool irq_has_pic(void)
{
    return has_pic;
}

bool irq_timer_input(uintptr_t *ioapic, uint32_t *input)
{
    return ioapic_find(timer_gsi != TIMER_LINE ? timer_gsi : TIMER_INPUT,
                       ioapic, input);
}

/* The PIC's line of what an IO-APIC has at (gsi). */
static uint32_t pic_line_of(uint32_t gsi)
{
    struct acpi_interrupts found;

    (void)acpi_interrupts(&found);
    for (unsigned line = 0; line < PIC_LINES; line++)
        if ((found.overrides >> line & 1) != 0 && found.isa[line].gsi == gsi)
            return line;
    return gsi;
}

unsigned irq_line_of(const struct acpi_input *input)
{
    const uint32_t at_pic = pic_line_of(input->gsi);

    if (has_pic && at_pic < PIC_LINES)
        return at_pic;
    if (!ioapic_has(input->gsi))
        return IRQ_NONE;
    for (unsigned line = 0; line < ARCH_IRQ_COUNT; line++)
        if (is_routed[line] && inputs[line].gsi == input->gsi) {
            inputs[line] = *input;
            return line;
        }
    for (unsigned line = ARCH_IRQ_MORE; line < ARCH_IRQ_COUNT; line++)
        if (!is_routed[line]) {
            is_routed[line] = true;
            inputs[line] = *input;
            return line;
        }
    return IRQ_NONE;
}

static void route(unsigned line, uint32_t gsi)
{
    ioapic_route(gsi, (uint8_t)(ARCH_IRQ_BASE + line), arch_apic_id(),
                 inputs[line].level, inputs[line].low);
}

static bool may_be_at_2(unsigned line)
{
    return line == TIMER_LINE && inputs[line].gsi == line;
}

void irq_unmask(unsigned line)
{
    if (line < ARCH_IRQ_COUNT && is_routed[line]) {
        route(line, inputs[line].gsi);
        if (may_be_at_2(line))
            route(line, TIMER_INPUT);
    } else if (has_pic && line < PIC_LINES) {
        pic_unmask(line);
    }
}

void irq_mask(unsigned line)
{
    if (line < ARCH_IRQ_COUNT && is_routed[line]) {
        ioapic_mask(inputs[line].gsi);
        if (may_be_at_2(line))
            ioapic_mask(TIMER_INPUT);
    } else if (has_pic && line < PIC_LINES) {
        pic_mask(line);
    }
}

void irq_done(unsigned line)
{
    if (is_routed[line])
        arch_apic_eoi();
    else
        pic_eoi(line);
}

bool irq_spurious(unsigned line)
{
    return !is_routed[line] &&
           (line == LOWEST_MASTER || line == LOWEST_SLAVE) &&
           pic_spurious(line);
}

irq_timer_done *irq_done_timer(void)
{
    return is_routed[TIMER_LINE] ? arch_apic_eoi : pic_eoi_timer;
}

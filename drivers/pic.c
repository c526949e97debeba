/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Source: Intel, 8259A Programmable Interrupt Controller, 1988.
 *
 * A request that is withdrawn before the CPU acknowledges it becomes a spurious
 * interrupt of the controller's lowest-priority line, without its in-service
 * bit. It must not get an EOI, which would apply to another interrupt in
 * service. A spurious interrupt of the slave came through line 2 of the master,
 * however, and that line needs its EOI.
 */

#include "pic.h"

#include <arch/cpu.h>
#include <arch/trap.h>

#define MASTER_COMMAND 0x20u
#define MASTER_DATA 0x21u
#define SLAVE_COMMAND 0xa0u
#define SLAVE_DATA 0xa1u

#define ICW1_INIT 0x10u
#define ICW1_WITH_ICW4 0x01u
#define ICW4_8086 0x01u
#define OCW2_EOI 0x20u
#define OCW3_READ_ISR 0x0bu
#define LOWEST_BIT 0x80u /* line 7 of a controller */

#define LINES_EACH 8u
#define MASTER_LOWEST 7u
#define SLAVE_LOWEST 15u
#define ALL_MASKED 0xffu

static void start_one(uint16_t command, uint16_t data, uint8_t vector,
                      uint8_t cascade)
{
    arch_out8(command, ICW1_INIT | ICW1_WITH_ICW4);
    arch_out8(data, vector);
    arch_out8(data, cascade);
    arch_out8(data, ICW4_8086);
    arch_out8(data, ALL_MASKED);
}

static void handle_master_lowest(void)
{
    if (!pic_spurious(MASTER_LOWEST))
        pic_eoi(MASTER_LOWEST);
}

static void handle_slave_lowest(void)
{
    if (!pic_spurious(SLAVE_LOWEST))
        pic_eoi(SLAVE_LOWEST);
}

static bool mask_holds(uint8_t mask)
{
    arch_out8(MASTER_DATA, mask);
    return arch_in8(MASTER_DATA) == mask;
}

bool pic_present(void)
{
    const uint8_t before = arch_in8(MASTER_DATA);
    const bool present = mask_holds(0xa5) && mask_holds(0x5a);

    arch_out8(MASTER_DATA, before);
    return present;
}

void pic_start(void)
{
    start_one(MASTER_COMMAND, MASTER_DATA, ARCH_IRQ_BASE,
              1u << PIC_LINE_CASCADE);
    start_one(SLAVE_COMMAND, SLAVE_DATA, ARCH_IRQ_BASE + LINES_EACH,
              PIC_LINE_CASCADE);
    pic_unmask(PIC_LINE_CASCADE);
    arch_irq_handle(MASTER_LOWEST, handle_master_lowest);
    arch_irq_handle(SLAVE_LOWEST, handle_slave_lowest);
}

static void change_mask(unsigned line, bool masked)
{
    const uint16_t port = line < LINES_EACH ? MASTER_DATA : SLAVE_DATA;
    const uint8_t bit = (uint8_t)(1u << line % LINES_EACH);
    const bool on = arch_interrupts_save();
    const uint8_t mask = arch_in8(port);

    arch_out8(port, (uint8_t)(masked ? mask | bit : mask & ~bit));
    arch_interrupts_restore(on);
}

void pic_unmask(unsigned line)
{
    change_mask(line, false);
}

void pic_mask(unsigned line)
{
    change_mask(line, true);
}

void pic_eoi(unsigned line)
{
    if (line >= LINES_EACH)
        arch_out8(SLAVE_COMMAND, OCW2_EOI);
    arch_out8(MASTER_COMMAND, OCW2_EOI);
}

void pic_eoi_timer(void)
{
    arch_out8(MASTER_COMMAND, OCW2_EOI);
}

bool pic_spurious(unsigned line)
{
    const bool slave = line >= LINES_EACH;
    const uint16_t port = slave ? SLAVE_COMMAND : MASTER_COMMAND;

    arch_out8(port, OCW3_READ_ISR);
    if ((arch_in8(port) & LOWEST_BIT) != 0)
        return false;
    if (slave)
        arch_out8(MASTER_COMMAND, OCW2_EOI);
    return true;
}

/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Source: Virtual I/O Device (VIRTIO) Version 1.1, 4.1.4.5 and 4.1.5.4.
 *
 * PCI interrupts are level-triggered: a line stays asserted until the interrupt
 * status of each device on it has been read, which clears it. So the status of
 * all devices on a line is read before the line is acknowledged; a later
 * interrupt asserts it again. Handlers have no argument, so each line has its
 * own.
 */

#include "virtio_irq.h"

#include "pic.h"

#include <arch/cpu.h>
#include <arch/trap.h>

#define PORT_ISR 19u
#define LINE_LOWEST_MASTER 7u
#define LINE_LOWEST_SLAVE 15u

static struct virtio_device *on_line[ARCH_IRQ_COUNT];
static void (*observer)(unsigned kind);

void virtio_irq_observe(void (*observe)(unsigned kind))
{
    observer = observe;
}

/* Reading clears it. Bit 0: a queue; bit 1: the configuration. */
static uint8_t read_status(const struct virtio_device *device)
{
    if (device->isr != NULL)
        return *device->isr;
    return arch_in8((uint16_t)(device->ports + PORT_ISR));
}

static void serve(unsigned line)
{
    bool lowest = line == LINE_LOWEST_MASTER || line == LINE_LOWEST_SLAVE;

    if (lowest && pic_spurious(line))
        return;
    for (struct virtio_device *each = on_line[line]; each != NULL;
         each = each->next) {
        if (read_status(each) == 0)
            continue;
        each->interrupts = each->interrupts + 1;
        if (each->interrupted != NULL)
            each->interrupted();
        if (observer != NULL)
            observer(each->kind);
    }
    pic_eoi(line);
}

/* Lines available to PCI devices; the others are used by the board. */
#define HANDLER(line)                                                          \
    static void serve_##line(void)                                             \
    {                                                                          \
        serve(line);                                                           \
    }
HANDLER(3)
HANDLER(5)
HANDLER(6)
HANDLER(7)
HANDLER(9)
HANDLER(10)
HANDLER(11)
HANDLER(12)
HANDLER(14)
HANDLER(15)

static arch_irq_handler *const handlers[ARCH_IRQ_COUNT] = {
    [3] = serve_3,   [5] = serve_5,   [6] = serve_6,   [7] = serve_7,
    [9] = serve_9,   [10] = serve_10, [11] = serve_11, [12] = serve_12,
    [14] = serve_14, [15] = serve_15,
};

static bool known(const struct virtio_device *device, unsigned line)
{
    for (const struct virtio_device *each = on_line[line]; each != NULL;
         each = each->next)
        if (each == device)
            return true;
    return false;
}

/* Of a UART that has it. Those of the PIC for the lowest lines are replaced. */
static bool is_the_boards(unsigned line)
{
    return line != LINE_LOWEST_MASTER && line != LINE_LOWEST_SLAVE &&
           arch_irq_is_handled(line);
}

bool virtio_irq_on(struct virtio_device *device)
{
    unsigned line = pci_interrupt_line(&device->pci);
    bool on;

    if (line >= ARCH_IRQ_COUNT || handlers[line] == NULL ||
        (device->common != NULL && device->isr == NULL))
        return false;
    if (known(device, line))
        return true;
    if (on_line[line] == NULL && is_the_boards(line))
        return false;
    on = arch_interrupts_save();
    device->next = on_line[line];
    on_line[line] = device;
    arch_irq_handle(line, handlers[line]);
    arch_interrupts_restore(on);
    pci_disable(&device->pci, PCI_COMMAND_NO_INTX);
    pic_unmask(line);
    return true;
}

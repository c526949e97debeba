/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Source: Virtual I/O Device (VIRTIO) Version 1.1, 4.1.4.5 and 4.1.5.4.
 *
 * Interrupts are level-triggered: a line stays asserted until the interrupt
 * status of each device on it has been read, which clears it. So the status of
 * all devices on a line is read before the line is acknowledged; a later
 * interrupt asserts it again. Handlers have no argument, so each line has its
 * own.
 */

#include "virtio_irq.h"

#include "irq.h"

#include <arch/cpu.h>
#include <arch/trap.h>

/* The PIC's driver handles these for what is spurious. */
#define LINE_LOWEST_MASTER 7u
#define LINE_LOWEST_SLAVE 15u

static struct virtio_device *on_line[ARCH_IRQ_COUNT];
static void (*observer)(unsigned kind);

void virtio_irq_observe(void (*observe)(unsigned kind))
{
    observer = observe;
}

static void serve(unsigned line)
{
    if (irq_spurious(line))
        return;
    for (struct virtio_device *each = on_line[line]; each != NULL;
         each = each->next) {
        if (each->transport->interrupt(each) == 0)
            continue;
        each->interrupts = each->interrupts + 1;
        if (each->interrupted != NULL)
            each->interrupted();
        if (observer != NULL)
            observer(each->kind);
    }
    irq_done(line);
}

/* Lines available to devices; the others are used by the board. Microvms give
 * them all from 5 on, those of a PC's clock and coprocessor, too, which do not
 * interrupt unless asked to. */
#define HANDLER(line)                                                          \
    static void serve_##line(void)                                             \
    {                                                                          \
        serve(line);                                                           \
    }
HANDLER(3)
HANDLER(5)
HANDLER(6)
HANDLER(7)
HANDLER(8)
HANDLER(9)
HANDLER(10)
HANDLER(11)
HANDLER(12)
HANDLER(13)
HANDLER(14)
HANDLER(15)
HANDLER(18)
HANDLER(19)
HANDLER(20)
HANDLER(21)
HANDLER(22)
HANDLER(23)
HANDLER(24)
HANDLER(25)
HANDLER(26)
HANDLER(27)
HANDLER(28)
HANDLER(29)
HANDLER(30)
HANDLER(31)
HANDLER(32)
HANDLER(33)

static arch_irq_handler *const handlers[ARCH_IRQ_COUNT] = {
    [3] = serve_3,   [5] = serve_5,   [6] = serve_6,   [7] = serve_7,
    [8] = serve_8,   [9] = serve_9,   [10] = serve_10, [11] = serve_11,
    [12] = serve_12, [13] = serve_13, [14] = serve_14, [15] = serve_15,
    [18] = serve_18, [19] = serve_19, [20] = serve_20, [21] = serve_21,
    [22] = serve_22, [23] = serve_23, [24] = serve_24, [25] = serve_25,
    [26] = serve_26, [27] = serve_27, [28] = serve_28, [29] = serve_29,
    [30] = serve_30, [31] = serve_31, [32] = serve_32, [33] = serve_33,
};

static bool known(const struct virtio_device *device, unsigned line)
{
    for (const struct virtio_device *each = on_line[line]; each != NULL;
         each = each->next)
        if (each == device)
            return true;
    return false;
}

/* Of a UART that has it. The PIC's handlers of the lowest lines are
 * replaced. */
static bool is_the_boards(unsigned line)
{
    return line != LINE_LOWEST_MASTER && line != LINE_LOWEST_SLAVE &&
           arch_irq_is_handled(line);
}

bool virtio_irq_on(struct virtio_device *device)
{
    const unsigned line = device->line;
    bool on;

    if (line >= ARCH_IRQ_COUNT || handlers[line] == NULL)
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
    if (device->enable_interrupts != NULL)
        device->enable_interrupts(device);
    irq_unmask(line);
    return true;
}

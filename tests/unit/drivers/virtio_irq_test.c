/* SPDX-License-Identifier: Apache-2.0 */
/* Interrupts of virtio devices: which lines they may have, and who is called
 * when one is asserted. The lines are this file's. */

#include "../unit.h"

/* instead of the header's instructions, which a program may not use */
#define ARCH_CPU_H

static bool arch_interrupts_save(void)
{
    return true;
}

static void arch_interrupts_restore(bool on)
{
    assert_true(on);
}

#include "../../../drivers/virtio_irq.c"

static arch_irq_handler *handled[ARCH_IRQ_COUNT];
static unsigned done[ARCH_IRQ_COUNT], unmasked[ARCH_IRQ_COUNT];
static unsigned heard;

bool arch_irq_is_handled(unsigned line)
{
    return handled[line] != NULL;
}

void arch_irq_handle(unsigned line, arch_irq_handler *handler)
{
    handled[line] = handler;
}

bool irq_spurious(unsigned line)
{
    (void)line;
    return false;
}

void irq_done(unsigned line)
{
    done[line]++;
}

void irq_unmask(unsigned line)
{
    unmasked[line]++;
}

static uint8_t asserted(const struct virtio_device *device)
{
    (void)device;
    return 1;
}

static void hear(void)
{
    heard++;
}

static const struct virtio_transport transport = {.interrupt = asserted};

/* Firecracker gives lines from 5 on, QEMU's microvm without ACPI from 5 to
 * 12, both without leaving any out. */
TEST(devices_have_any_line_of_a_microvm)
{
    static struct virtio_device devices[16];

    for (unsigned line = 5; line < 16; line++) {
        devices[line] = (struct virtio_device){
            .transport = &transport, .line = line, .interrupted = hear};
        assert_true(virtio_irq_on(&devices[line]));
        assert_int_equal(unmasked[line], 1);
        heard = 0;
        handled[line]();
        assert_int_equal(heard, 1);
        assert_int_equal(done[line], 1);
        assert_int_equal(devices[line].interrupts, 1);
    }
}

TEST(lines_of_the_board_are_left_alone)
{
    static struct virtio_device timer = {.transport = &transport, .line = 0};
    static struct virtio_device none = {.transport = &transport,
                                        .line = IRQ_NONE};
    static struct virtio_device beside = {.transport = &transport, .line = 3};

    handled[3] = hear; /* a UART's */
    assert_false(virtio_irq_on(&timer));
    assert_false(virtio_irq_on(&none));
    assert_false(virtio_irq_on(&beside));
    assert_ptr_equal(handled[3], hear);
}

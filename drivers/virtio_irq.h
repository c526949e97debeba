/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIRTIO_IRQ_H
#define VIRTIO_IRQ_H

/*
 * Interrupts of virtio devices by their PCI pins. Several may share a line of
 * the PIC. An interrupt is taken, counted and acknowledged, nothing more: by
 * coming it ends the halt of the event loop, which then looks at the queues.
 */

#include "virtio.h"

/*
 * Lets (device), which MUST stay where it is, interrupt from now on; its queues
 * say when (virtio_interrupts()). False: no line is wired to it. Repeated calls
 * are harmless. Contexts: thread.
 */
bool virtio_irq_on(struct virtio_device *device);

#endif

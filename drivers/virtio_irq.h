/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIRTIO_IRQ_H
#define VIRTIO_IRQ_H

/*
 * Interrupts of virtio devices. Several of them may share a line (irq.h). An
 * interrupt is only counted and acknowledged: its purpose is to end the halt of
 * the event loop, which then polls the queues.
 */

#include "virtio.h"

/*
 * Enables interrupts of (device), which MUST stay where it is; when they come
 * is set for each queue (virtio_interrupts()). False: it has no interrupt line.
 * May be called again. Contexts: thread.
 */
bool virtio_irq_on(struct virtio_device *device);

/* Calls (observe) in each interrupt of a device, with its kind; NULL for none.
 * Contexts: thread. */
void virtio_irq_observe(void (*observe)(unsigned kind));

#endif

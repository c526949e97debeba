/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UK_INTCTLR_H
#define UK_INTCTLR_H

/* Calls (handler) in interrupt (irq), of the controllers or of a local APIC,
 * and lets it through. */
int uk_intctlr_irq_register(unsigned irq, int (*handler)(void *), void *arg);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XEN_XEN_CONTEXT_H
#define XEN_XEN_CONTEXT_H

/*
 * Registers in what Xen says of a CPU. Only offsets are known here, so that
 * this is built and tested without Xen's headers; xen_calls.c holds them
 * against these.
 *
 * Source: Xen's public headers xen/arch-x86/hvm/save.h, xen/foreign/x86_*.h.
 */

#include "machine/registers.h"

#define XEN_HVM_RBP 544u
#define XEN_HVM_RSP 568u
#define XEN_HVM_RIP 640u
#define XEN_HVM_RFLAGS 648u
#define XEN_HVM_CR0 656u
#define XEN_HVM_CR3 672u
#define XEN_HVM_CR4 680u
#define XEN_HVM_CS 736u
#define XEN_HVM_CS_BASE 808u
#define XEN_HVM_CS_ATTRIBUTES 888u
#define XEN_HVM_EFER 992u
#define XEN_HVM_BYTES 1032u

#define XEN_PV64_FLAGS 512u
#define XEN_PV64_RBP 552u
#define XEN_PV64_RIP 648u
#define XEN_PV64_CS 656u
#define XEN_PV64_RSP 672u
#define XEN_PV64_CR 4984u /* an array: cr0 to cr7 */
#define XEN_PV64_BYTES 5168u

#define XEN_PV32_EBP 536u
#define XEN_PV32_EIP 548u
#define XEN_PV32_CS 552u
#define XEN_PV32_ESP 560u
#define XEN_PV32_CR 2716u
#define XEN_PV32_BYTES 2800u

/* A PV guest has its interrupts masked in its own memory: what is here does not
 * say so. */
void xen_context_hvm(const uint8_t *context, struct registers *registers);
void xen_context_pv64(const uint8_t *context, struct registers *registers);
void xen_context_pv32(const uint8_t *context, struct registers *registers);

#endif

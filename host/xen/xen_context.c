/* SPDX-License-Identifier: Apache-2.0 */
/* Registers of a Xen guest. */

#include "xen/xen_context.h"

#include "base/bytes.h"

#define CR0_PE 1u
#define CR0_PG (1u << 31)
#define CR4_PAE (1u << 5)
#define EFER_LMA (1u << 10)
#define RFLAGS_IF (1u << 9)
#define CS_LONG (1u << 9)
#define CR3_USER 1 /* in which place a PV guest's other tables are */
#define IN_KERNEL (1u << 2)
#define PV64_CS_32 0xe020u /* Xen's flat 32-bit code segment, ring 0 */
#define CS_RING 3u

void xen_context_hvm(const uint8_t *context, struct registers *registers)
{
    *registers = (struct registers){
        .ip = le64(context + XEN_HVM_RIP),
        .sp = le64(context + XEN_HVM_RSP),
        .fp = le64(context + XEN_HVM_RBP),
        .cs = le32(context + XEN_HVM_CS) & 0xffff,
        .cr0 = le64(context + XEN_HVM_CR0),
        .cr3 = le64(context + XEN_HVM_CR3),
        .cr4 = le64(context + XEN_HVM_CR4),
        .efer = le64(context + XEN_HVM_EFER),
        .masked = (le64(context + XEN_HVM_RFLAGS) & RFLAGS_IF) == 0,
    };
    if ((registers->cr0 & CR0_PE) == 0) {
        registers->mode = MODE_REAL;
        registers->ip += le64(context + XEN_HVM_CS_BASE);
    } else if ((registers->efer & EFER_LMA) != 0 &&
               (le32(context + XEN_HVM_CS_ATTRIBUTES) & CS_LONG) != 0) {
        registers->mode = MODE_64;
    } else {
        registers->mode = MODE_32;
    }
}

/* A PV guest sees no control registers but for cr3, and pages by PAE or four
 * levels, whose entries have frames of the machine. */
void xen_context_pv64(const uint8_t *context, struct registers *registers)
{
    uint64_t user = le64(context + XEN_PV64_CR + 8 * CR3_USER);
    bool in_kernel = (le64(context + XEN_PV64_FLAGS) & IN_KERNEL) != 0;

    *registers = (struct registers){
        .mode = MODE_64,
        .ip = le64(context + XEN_PV64_RIP),
        .sp = le64(context + XEN_PV64_RSP),
        .fp = le64(context + XEN_PV64_RBP),
        .cs = le16(context + XEN_PV64_CS),
        .cr0 = CR0_PE | CR0_PG,
        .cr3 = !in_kernel && user != 0 ? user
                                       : le64(context + XEN_PV64_CR + 8 * 3),
        .cr4 = CR4_PAE,
        .efer = EFER_LMA,
    };
    if ((registers->cs & ~(uint64_t)CS_RING) == PV64_CS_32)
        registers->mode = MODE_32;
}

void xen_context_pv32(const uint8_t *context, struct registers *registers)
{
    uint32_t cr3 = le32(context + XEN_PV32_CR + 4 * 3);

    *registers = (struct registers){
        .mode = MODE_32,
        .ip = le32(context + XEN_PV32_EIP),
        .sp = le32(context + XEN_PV32_ESP),
        .fp = le32(context + XEN_PV32_EBP),
        .cs = le16(context + XEN_PV32_CS),
        .cr0 = CR0_PE | CR0_PG,
        /* the upper bits of the frame's number are in the lowest ones */
        .cr3 = (uint64_t)(cr3 >> 12 | cr3 << 20) << 12,
        .cr4 = CR4_PAE,
    };
}

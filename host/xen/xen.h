/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XEN_XEN_H
#define XEN_XEN_H

#include "base/index.h"
#include "machine/machine.h"
#include "machine/registers.h"
#include "xen/xen_calls.h"

/* A Xen domain as a machine, seen from the domain that controls it. One call of
 * Xen pauses it and takes all registers, one lets it go on, and what is in its
 * RAM is read without any, by the CPU's own page tables. */

/* A guest's RAM as it is mapped here: each frame when it is first read, with
 * its neighbours where a guest numbers its own frames. So most samples read
 * their stacks and page tables without a call of Xen. */

#define XEN_FRAMES_TOGETHER 512u

struct xen_run {
    const uint8_t *bytes; /* NULL = none of them is there */
    uint8_t missing[XEN_FRAMES_TOGETHER];
};

/* Starts as zeros, but for the first three. */
struct xen_frames {
    const struct xen_calls *calls;
    void *owner;
    unsigned together; /* 1, or XEN_FRAMES_TOGETHER */
    struct index index;
    struct xen_run *runs;
};

/* Copies from a physical address, within its frame; false: not there. */
bool xen_frames_copy(struct xen_frames *frames, uint64_t physical, uint8_t *to,
                     size_t bytes);

struct xen {
    struct machine machine;
    struct xen_about about;
    struct xen_frames frames;
    struct xen_cpu_state *cpus;
    unsigned number; /* of the domain */
    bool takes_dead; /* stops a domain that has crashed or powered off, too */
    bool paused;
    unsigned torn_in_row;
};

/* Opens domain (number). Returns 0, or an errno. Closed by machine_end(). */
int xen_begin(struct xen *xen, const struct xen_calls *calls, void *owner,
              unsigned number);

/* Begins with (target), "xen:NUMBER"; dies if there is no Xen, or it refuses.
 * The domain goes on however we end, but by a signal that none can catch. */
void xen_attach(struct xen *xen, const char *target);

/* "HVM or PVH", or which PV. */
const char *xen_kind(const struct xen *xen);

/*
 * Registers in what Xen says of a CPU. Only offsets are known here, so that
 * this is built and tested without Xen's headers; xen_calls.c holds them
 * against these.
 *
 * Source: Xen's public headers xen/arch-x86/hvm/save.h, xen/foreign/x86_*.h.
 */

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

/* All registers that are shown: name, Xen's field, offset, bytes. */
/* clang-format off */
#define XEN_HVM_REGISTERS(REGISTER)                                            \
    REGISTER(AX, rax, 512, 8)                                                  \
    REGISTER(BX, rbx, 520, 8)                                                  \
    REGISTER(CX, rcx, 528, 8)                                                  \
    REGISTER(DX, rdx, 536, 8)                                                  \
    REGISTER(FP, rbp, 544, 8)                                                  \
    REGISTER(SI, rsi, 552, 8)                                                  \
    REGISTER(DI, rdi, 560, 8)                                                  \
    REGISTER(SP, rsp, 568, 8)                                                  \
    REGISTER(R8, r8, 576, 8)                                                   \
    REGISTER(R9, r9, 584, 8)                                                   \
    REGISTER(R10, r10, 592, 8)                                                 \
    REGISTER(R11, r11, 600, 8)                                                 \
    REGISTER(R12, r12, 608, 8)                                                 \
    REGISTER(R13, r13, 616, 8)                                                 \
    REGISTER(R14, r14, 624, 8)                                                 \
    REGISTER(R15, r15, 632, 8)                                                 \
    REGISTER(IP, rip, 640, 8)                                                  \
    REGISTER(FLAGS, rflags, 648, 8)                                            \
    REGISTER(CR0, cr0, 656, 8)                                                 \
    REGISTER(CR2, cr2, 664, 8)                                                 \
    REGISTER(CR3, cr3, 672, 8)                                                 \
    REGISTER(CR4, cr4, 680, 8)                                                 \
    REGISTER(CS, cs_sel, 736, 4)                                               \
    REGISTER(DS, ds_sel, 740, 4)                                               \
    REGISTER(ES, es_sel, 744, 4)                                               \
    REGISTER(FS, fs_sel, 748, 4)                                               \
    REGISTER(GS, gs_sel, 752, 4)                                               \
    REGISTER(SS, ss_sel, 756, 4)                                               \
    REGISTER(FS_BASE, fs_base, 832, 8)                                         \
    REGISTER(GS_BASE, gs_base, 840, 8)                                         \
    REGISTER(EFER, msr_efer, 992, 8)
#define XEN_PV64_REGISTERS(REGISTER)                                           \
    REGISTER(R15, user_regs.r15, 520, 8)                                       \
    REGISTER(R14, user_regs.r14, 528, 8)                                       \
    REGISTER(R13, user_regs.r13, 536, 8)                                       \
    REGISTER(R12, user_regs.r12, 544, 8)                                       \
    REGISTER(FP, user_regs.rbp, 552, 8)                                        \
    REGISTER(BX, user_regs.rbx, 560, 8)                                        \
    REGISTER(R11, user_regs.r11, 568, 8)                                       \
    REGISTER(R10, user_regs.r10, 576, 8)                                       \
    REGISTER(R9, user_regs.r9, 584, 8)                                         \
    REGISTER(R8, user_regs.r8, 592, 8)                                         \
    REGISTER(AX, user_regs.rax, 600, 8)                                        \
    REGISTER(CX, user_regs.rcx, 608, 8)                                        \
    REGISTER(DX, user_regs.rdx, 616, 8)                                        \
    REGISTER(SI, user_regs.rsi, 624, 8)                                        \
    REGISTER(DI, user_regs.rdi, 632, 8)                                        \
    REGISTER(IP, user_regs.rip, 648, 8)                                        \
    REGISTER(CS, user_regs.cs, 656, 2)                                         \
    REGISTER(FLAGS, user_regs.rflags, 664, 8)                                  \
    REGISTER(SP, user_regs.rsp, 672, 8)                                        \
    REGISTER(SS, user_regs.ss, 680, 2)                                         \
    REGISTER(ES, user_regs.es, 688, 2)                                         \
    REGISTER(DS, user_regs.ds, 696, 2)                                         \
    REGISTER(FS, user_regs.fs, 704, 2)                                         \
    REGISTER(GS, user_regs.gs, 712, 2)
#define XEN_PV32_REGISTERS(REGISTER)                                           \
    REGISTER(BX, user_regs.ebx, 516, 4)                                        \
    REGISTER(CX, user_regs.ecx, 520, 4)                                        \
    REGISTER(DX, user_regs.edx, 524, 4)                                        \
    REGISTER(SI, user_regs.esi, 528, 4)                                        \
    REGISTER(DI, user_regs.edi, 532, 4)                                        \
    REGISTER(FP, user_regs.ebp, 536, 4)                                        \
    REGISTER(AX, user_regs.eax, 540, 4)                                        \
    REGISTER(IP, user_regs.eip, 548, 4)                                        \
    REGISTER(CS, user_regs.cs, 552, 2)                                         \
    REGISTER(FLAGS, user_regs.eflags, 556, 4)                                  \
    REGISTER(SP, user_regs.esp, 560, 4)                                        \
    REGISTER(SS, user_regs.ss, 564, 2)                                         \
    REGISTER(ES, user_regs.es, 568, 2)                                         \
    REGISTER(DS, user_regs.ds, 572, 2)                                         \
    REGISTER(FS, user_regs.fs, 576, 2)                                         \
    REGISTER(GS, user_regs.gs, 580, 2)
/* clang-format on */

/* A PV guest has its interrupts masked in its own memory: what is here does not
 * say so. */
void xen_context_hvm(const uint8_t *context, struct registers *registers);
void xen_context_pv64(const uint8_t *context, struct registers *registers);
void xen_context_pv32(const uint8_t *context, struct registers *registers);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EMBED_KERNEL64_H
#define EMBED_KERNEL64_H

/* What the kernels of 64 bits have in common (start64.asm). */

#include "pc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What timer_entry pushes, and then what the CPU has pushed. */
struct interrupted {
    uint64_t scratch[9];
    uint64_t rbp;
    uint64_t rip, cs, rflags, rsp, ss;
};

extern const char timer_entry[], fault_entry[];
void kernel_main(void);
void timer_interrupt(const struct interrupted *at);

/* Loads an IDT with timer_entry at (vector), and enables interrupts. */
static inline void start_interrupts(unsigned vector)
{
    static uint64_t idt[256][2];
    struct {
        uint16_t limit;
        uint64_t base;
    } __attribute__((packed)) pointer = {sizeof idt - 1, (uint64_t)idt};

    for (unsigned i = 0; i < 256; i++) {
        uint64_t entry = (uint64_t)(i == vector ? timer_entry : fault_entry);

        idt[i][0] =
            (entry & 0xffff) | 0x8e0000080000 | (entry & 0xffff0000) << 32;
        idt[i][1] = entry >> 32;
    }
    __asm__ volatile("lidt %0" : : "m"(pointer));
    pc_pic_start((uint16_t)(1u << (vector - PC_VECTOR) | 1u << 2));
    __asm__ volatile("sti");
}

#ifdef __cplusplus
}
#endif

#endif

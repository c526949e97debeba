/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EMBED_PC_H
#define EMBED_PC_H

/* The PC's devices as far as the kernels of this folder use them. */

#include <stddef.h>
#include <stdint.h>

#ifndef PC_VECTOR
#define PC_VECTOR 0x40 /* of the first interrupt controller's line 0 */
#endif
#define PC_LINE_PIT 0
#define PC_LINE_RTC 8

static inline void pc_out8(uint16_t port, uint8_t value)
{
    __asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port));
}

static inline uint8_t pc_in8(uint16_t port)
{
    uint8_t value;

    __asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
    return value;
}

static inline void pc_put(char c)
{
    while ((pc_in8(0x3fd) & 0x20) == 0)
        ;
    pc_out8(0x3f8, (uint8_t)c);
}

/* Ends QEMU with (code): its device isa-debug-exit. */
static inline void pc_exit(uint8_t code)
{
    pc_out8(0xf4, code);
    for (;;)
        __asm__ volatile("cli; hlt");
}

/* Both interrupt controllers, with all lines masked but (lines). */
static inline void pc_pic_start(uint16_t lines)
{
    static const uint8_t words[] = {0x11, PC_VECTOR, 4, 1};

    for (unsigned i = 0; i < sizeof words; i++) {
        pc_out8(i == 0 ? 0x20 : 0x21, words[i]);
        pc_out8(i == 0 ? 0xa0 : 0xa1, i == 1   ? PC_VECTOR + 8
                                      : i == 2 ? 2
                                               : words[i]);
    }
    pc_out8(0x21, (uint8_t)~lines);
    pc_out8(0xa1, (uint8_t)(~lines >> 8));
}

/* Lets (line), one of the first controller's, through as well. */
static inline void pc_pic_unmask(unsigned line)
{
    pc_out8(0x21, (uint8_t)(pc_in8(0x21) & ~(1u << line)));
}

static inline void pc_pic_done(unsigned line)
{
    if (line >= 8)
        pc_out8(0xa0, 0x20);
    pc_out8(0x20, 0x20);
}

/* The PIT's channel 0 as a periodic timer. */
static inline void pc_pit_start(uint16_t divisor)
{
    pc_out8(0x43, 0x34);
    pc_out8(0x40, (uint8_t)divisor);
    pc_out8(0x40, (uint8_t)(divisor >> 8));
}

/* The clock's periodic interrupt, 1,024 a second. */
static inline void pc_rtc_start(void)
{
    pc_out8(0x70, 0x8a);
    pc_out8(0x71, 0x26);
    pc_out8(0x70, 0x8b);
    pc_out8(0x71, 0x42);
    pc_out8(0x70, 0x0c);
    (void)pc_in8(0x71);
}

static inline void pc_rtc_done(void)
{
    pc_out8(0x70, 0x0c);
    (void)pc_in8(0x71);
    pc_pic_done(PC_LINE_RTC);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "code.h"

#include <kernel/loop.h>

#define SPIN_CYCLES 2u /* of a round */

/* Not a leaf for the compiler, so that it has a frame. */
void spin_for(uint32_t cycles)
{
    uint32_t rounds = cycles / SPIN_CYCLES;

    if (rounds != 0)
        __asm__ volatile("1: dec %0\n\t"
                         "jnz 1b"
                         : "+r"(rounds)
                         :
                         : "cc");
}

void plain(uint32_t cycles)
{
    spin_for(cycles);
    __asm__ volatile(""); /* no tail call */
}

void recursive(uint32_t depth, uint32_t cycles)
{
    spin_for(cycles);
    if (depth != 0)
        recursive(depth - 1, cycles);
    __asm__ volatile("");
}

void jumps_out(jmp_buf *to, uint32_t cycles)
{
    spin_for(cycles);
    longjmp(*to, 1);
}

__attribute__((optimize("optimize-sibling-calls"))) void
tail_call(uint32_t cycles)
{
    spin_for(10);
    plain(cycles);
}

void calls_plain(uint32_t cycles)
{
    for (unsigned i = 0; i < 100; i++)
        plain(cycles / 100);
    __asm__ volatile("");
}

struct three returns_struct(uintptr_t a, uintptr_t b, uintptr_t c)
{
    spin_for(10);
    return (struct three){c, a, b};
}

double floats(double a, float b, long double c)
{
    spin_for(10);
    return a + (double)b + (double)c;
}

uint64_t wide(uint64_t a, uint64_t b)
{
    spin_for(10);
    return a * b;
}

uintptr_t switches(uintptr_t which)
{
    static const uintptr_t of[] = {7, 11, 13};

    return which < 3 ? of[which] : 0;
}

#ifdef __x86_64__
#define ARGUMENT "mov %rdi, %rax\n"
#define FRAME "push %rbp\nmov %rsp, %rbp\n"
#define PUSH_ADDRESS "lea plain+1(%rip), %rax\npush %rax\n"
#define ALL_RELATIVE                                                           \
    "cmpl $5, branches_value(%rip)\n"                                          \
    "jne 2f\n" ARGUMENT
#else
#define ARGUMENT "mov 4(%esp), %eax\n"
#define FRAME "push %ebp\nmov %esp, %ebp\n"
#define PUSH_ADDRESS "push $plain+1\n"
#define ALL_RELATIVE                                                           \
    "cmpb $5, branches_value\n"                                                \
    "jne 2f\n" ARGUMENT
#endif

#define FUNCTION(name, body)                                                   \
    __asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name      \
            ":\n" body ".size " #name ", . - " #name "\n")

__attribute__((used)) uint32_t branches_value = 5;

FUNCTION(too_short, "nop\nret\n");
FUNCTION(branches_back, ARGUMENT "3: dec %eax\njnz 3b\nret\n");
FUNCTION(unknown_code, ".byte 0xc5, 0xf8, 0x77\nnop\nnop\nnop\nret\n");
FUNCTION(all_relative, ALL_RELATIVE "inc %eax\nret\n2: xor %eax, %eax\nret\n");
FUNCTION(has_an_address, FRAME PUSH_ADDRESS
         "mov $5000, %ecx\n5: dec %ecx\njnz 5b\nleave\nret\n");
FUNCTION(calls_first, "call 4f\nret\n.skip 6, 0x90\n4: mov $42, %eax\nret\n");

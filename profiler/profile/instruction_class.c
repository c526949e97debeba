/* SPDX-License-Identifier: Apache-2.0 */

/*
 * x86 instructions cannot be decoded backwards. So the bytes before the address
 * are first compared with the opcodes in question, which excludes most
 * addresses. If one matches, decoding from the beginning of the function shows
 * whether an instruction begins at that byte.
 */

#include "profile/instruction_class.h"

#include "profile/accounts.h"
#include "profile/addresses.h"
#include "profile/functions.h"
#include "profile/image.h"
#include "unwind/decode.h"

#include <stddef.h>

#define EXIT_BYTES_MAX 3u /* of an instruction that may exit */

/* Opcodes (Intel SDM vol. 2, appendix A). */
#define STI 0xfb
#define POPF 0x9d
#define HLT 0xf4
#define JMP_SHORT 0xeb

static const uint8_t *code_at(uintptr_t address)
{
    return (const uint8_t *)address;
}

/* Whether the instruction at (bytes) may exit to the hypervisor. */
static bool may_exit(const uint8_t *bytes)
{
    while (*bytes == 0x66 || *bytes == 0xf2 || *bytes == 0xf3)
        bytes++;
    if (bytes[0] == 0x0f) /* cpuid, wrmsr, rdmsr */
        return bytes[1] == 0xa2 || bytes[1] == 0x30 || bytes[1] == 0x32;
    return bytes[0] == HLT || (bytes[0] & 0xf4) == 0xe4 ||
           (bytes[0] & 0xfc) == 0x6c; /* hlt; in and out; ins and outs */
}

/* Whether an instruction begins at (address); decodes from (begin) on. */
static bool begins(uintptr_t begin, uintptr_t address)
{
    while (begin < address) {
        uint32_t length = prof_decode(code_at(begin)).length;

        if (length == 0)
            return false;
        begin += length;
    }
    return begin == address;
}

/* Whether the (bytes) bytes before (pc) decode as one instruction. */
static bool is_one(uintptr_t pc, uint32_t bytes)
{
    return prof_decode(code_at(pc - bytes)).length == bytes;
}

/* Some emulators deliver interrupts only after jumps, so drivers may put a jump
 * to the next instruction after a port access. Skips such jumps backwards. */
static uintptr_t before_jumps(uintptr_t pc, uintptr_t begin)
{
    while (pc - begin >= 2 && code_at(pc)[-2] == JMP_SHORT &&
           code_at(pc)[-1] == 0 && begins(begin, pc - 2))
        pc -= 2;
    return pc;
}

static bool follows_exit(uintptr_t pc, uintptr_t begin)
{
    for (uint32_t n = 1; n <= EXIT_BYTES_MAX && n <= pc - begin; n++)
        if (may_exit(code_at(pc - n)) && is_one(pc, n) && begins(begin, pc - n))
            return true;
    return false;
}

/* In "sti; hlt" the CPU waits for the interrupt, which is therefore not late;
 * hlt after sti does not count. */
static bool follows_enabling(uintptr_t pc, uintptr_t begin)
{
    if (pc - begin >= 1 && code_at(pc)[-1] == POPF && begins(begin, pc - 1))
        return true;
    for (uint32_t n = 1; n <= PROF_INSTRUCTION_BYTES_MAX && n < pc - begin; n++)
        if (code_at(pc - n)[-1] == STI && code_at(pc - n)[0] != HLT &&
            is_one(pc, n) && begins(begin, pc - n - 1))
            return true;
    return false;
}

/* Whether (pc) and the instructions from (begin) to there may be read. */
static bool is_readable(uintptr_t pc, uintptr_t begin)
{
    const struct prof_range *text = &prof_image.text;

    return begin >= text->begin && begin <= pc && pc < text->end &&
           text->end - pc >= PROF_INSTRUCTION_BYTES_MAX;
}

static uint32_t class_at(uintptr_t pc, uintptr_t begin)
{
    uint32_t class = 0;
    uintptr_t before;

    if (!is_readable(pc, begin))
        return 0;
    before = before_jumps(pc, begin);
    if (may_exit(code_at(pc)) || follows_exit(before, begin))
        class |= PROF_INSTRUCTION_VM_EXIT;
    if (follows_enabling(before, begin))
        class |= PROF_INSTRUCTION_ENABLES_INTERRUPTS;
    return class;
}

uint32_t prof_instruction_class(struct prof_address *address)
{
    if (address->class != PROF_CLASS_ATTRIBUTED)
        return 0;
    if (address->instructions == 0) {
        uintptr_t begin = prof_function_at(address->record.link)->record.key;
        uint32_t class = class_at(address->record.key, begin);

        address->instructions = (PROF_INSTRUCTION_KNOWN | class) & 7u;
    }
    return address->instructions & ~PROF_INSTRUCTION_KNOWN;
}

bool prof_was_masked(uintptr_t pc)
{
    struct prof_address *address = prof_address_find(pc);

    return address != NULL && (prof_instruction_class(address) &
                               PROF_INSTRUCTION_ENABLES_INTERRUPTS) != 0;
}

/* SPDX-License-Identifier: Apache-2.0 */

/*
 * x86 instructions cannot be decoded backwards. So the bytes before the address
 * are first compared with the opcodes in question, which excludes most
 * addresses. If one matches, decoding forwards shows whether an instruction
 * begins at that byte: from the beginning of the function, or from nearer.
 *
 * No instruction is longer than 15 bytes, so that one begins at some of any 15
 * bytes in a row. Where decoding from each of them comes to the same
 * instruction, that one is real. It mostly does after a few instructions.
 */

#include "aggregate/instruction_class.h"

#include "aggregate/accounts.h"
#include "aggregate/addresses.h"
#include "aggregate/functions.h"
#include "aggregate/image.h"
#include "unwind/decode.h"

#include <prof/symbols.h>
#include <stddef.h>

#define EXIT_BYTES_MAX 3u /* of an instruction that may exit */
/* Bytes of jumps looked at: struct code has room for them and what precedes. */
#define JUMPS_MAX (STARTS_MAX - PROF_INSTRUCTION_BYTES_MAX - 1)

/* Opcodes (Intel SDM vol. 2, appendix A). */
#define STI 0xfb
#define POPF 0x9d
#define HLT 0xf4
#define JMP_SHORT 0xeb
#define CALL_NEAR 0xe8

#define CALL_BYTES 5u          /* of a near, direct call */
#define CALLEE_BYTES_MAX 1024u /* of a function that is decoded as a whole */

static const uint8_t *code_at(uintptr_t address)
{
    return (const uint8_t *)address;
}

static bool may_exit(const uint8_t *bytes)
{
    while (*bytes == 0x66 || *bytes == 0xf2 || *bytes == 0xf3)
        bytes++;
    if (bytes[0] == 0x0f) /* cpuid, wrmsr, rdmsr */
        return bytes[1] == 0xa2 || bytes[1] == 0x30 || bytes[1] == 0x32;
    return bytes[0] == HLT || (bytes[0] & 0xf4) == 0xe4 ||
           (bytes[0] & 0xfc) == 0x6c; /* hlt; in and out; ins and outs */
}

/* The code of a function up to an address in it. */
struct code {
    uintptr_t begin, pc;
    uint32_t starts; /* bit n: an instruction begins at pc - n */
    bool decoded;    /* (starts) is known */
};

#define STARTS_MAX 31u /* the highest bit of (starts) */
/* How far before an address decoding begins, if not with the function. */
#define NEAR 96u
#define FAR 384u

/* Decodes from each of the first 15 bytes of (at) until all come to the same
 * instruction; its address, 0 if they do not before (end) or one is unknown. */
static uintptr_t common_start(uintptr_t at, uintptr_t end)
{
    uint32_t starts = (1u << PROF_INSTRUCTION_BYTES_MAX) - 1; /* from (at) on */

    while (starts != 1 && at < end) {
        uint32_t length = prof_decode(code_at(at)).length;

        if (length == 0)
            return 0;
        for (starts |= 1u << length; (starts & 2) == 0; at++)
            starts >>= 1;
        starts >>= 1;
        at++;
    }
    return starts == 1 ? at : 0;
}

/* Where an instruction begins at least STARTS_MAX bytes before (code->pc), or
 * the function. */
static uintptr_t known_start(const struct code *code)
{
    for (uint32_t back = NEAR; back <= FAR; back *= 2) {
        uintptr_t at;

        if (code->pc - code->begin <= back)
            break;
        at = common_start(code->pc - back, code->pc - STARTS_MAX);
        if (at != 0)
            return at;
    }
    return code->begin;
}

static void decode(struct code *code)
{
    uintptr_t at = known_start(code);
    uint32_t length;

    code->decoded = true;
    while (at <= code->pc) {
        if (code->pc - at <= STARTS_MAX)
            code->starts |= 1u << (code->pc - at);
        length = prof_decode(code_at(at)).length;
        if (length == 0)
            break;
        at += length;
    }
}

/* Whether an instruction begins (back) bytes before the address. */
static bool begins(struct code *code, uint32_t back)
{
    if (!code->decoded)
        decode(code);
    return (code->starts >> back & 1) != 0;
}

/* Whether the (bytes) bytes before (pc) decode as one instruction. */
static bool is_one(uintptr_t pc, uint32_t bytes)
{
    return prof_decode(code_at(pc - bytes)).length == bytes;
}

/* Some emulators deliver interrupts only after jumps, so drivers may put a jump
 * to the next instruction after a port access. Bytes of such jumps before the
 * address. */
static uint32_t jumps_before(struct code *code)
{
    uint32_t back = 0;

    while (back + 2 <= JUMPS_MAX && code->pc - back - code->begin >= 2 &&
           code_at(code->pc - back)[-2] == JMP_SHORT &&
           code_at(code->pc - back)[-1] == 0 && begins(code, back + 2))
        back += 2;
    return back;
}

static bool follows_exit(struct code *code, uint32_t back)
{
    uintptr_t pc = code->pc - back;

    for (uint32_t n = 1; n <= EXIT_BYTES_MAX && n <= pc - code->begin; n++)
        if (may_exit(code_at(pc - n)) && is_one(pc, n) &&
            begins(code, back + n))
            return true;
    return false;
}

static bool is_readable(uintptr_t pc, uintptr_t begin)
{
    const struct prof_range *text = &prof_image.text;

    return begin >= text->begin && begin <= pc && pc < text->end &&
           text->end - pc >= PROF_INSTRUCTION_BYTES_MAX;
}

/* Whether a function of (bytes) bytes at (at) returns after an instruction that
 * may exit, with no other jump in between. */
static bool returns_from_exit(uintptr_t at, size_t bytes)
{
    uintptr_t end = at + bytes;
    bool exited = false;

    while (at < end) {
        struct prof_instruction one = prof_decode(code_at(at));
        bool goes_on =
            one.effect <= PROF_EFFECT_FRAMED ||
            (one.effect == PROF_EFFECT_JUMP && one.value == (int)one.length);

        if (one.length == 0 || (one.effect == PROF_EFFECT_RETURN && exited))
            return one.length != 0;
        exited = may_exit(code_at(at)) || (exited && goes_on);
        at += one.length;
    }
    return false;
}

/* The same emulators deliver the interrupt after the function that made the
 * port access has returned, to its caller. */
static bool follows_call_of_exit(struct code *code)
{
    uintptr_t pc = code->pc;
    struct prof_symbol callee;
    int32_t distance;

    if (pc - code->begin < CALL_BYTES ||
        *code_at(pc - CALL_BYTES) != CALL_NEAR || !begins(code, CALL_BYTES))
        return false;
    __builtin_memcpy(&distance, code_at(pc - sizeof distance), sizeof distance);
    return prof_symbol_find(pc + (uintptr_t)(intptr_t)distance, &callee) &&
           callee.size <= CALLEE_BYTES_MAX &&
           is_readable(callee.start + callee.size - 1, callee.start) &&
           returns_from_exit(callee.start, callee.size);
}

/* In "sti; hlt" the CPU waits for the interrupt, which is therefore not late;
 * hlt after sti does not count. */
static bool follows_enabling(struct code *code, uint32_t back)
{
    uintptr_t pc = code->pc - back, begin = code->begin;

    if (pc - begin >= 1 && code_at(pc)[-1] == POPF && begins(code, back + 1))
        return true;
    for (uint32_t n = 1; n <= PROF_INSTRUCTION_BYTES_MAX && n < pc - begin; n++)
        if (code_at(pc - n)[-1] == STI && code_at(pc - n)[0] != HLT &&
            is_one(pc, n) && begins(code, back + n + 1))
            return true;
    return false;
}

static uint32_t class_at(uintptr_t pc, uintptr_t begin)
{
    struct code code = {.begin = begin, .pc = pc};
    uint32_t class = 0, back;

    if (!is_readable(pc, begin))
        return 0;
    back = jumps_before(&code);
    if (may_exit(code_at(pc)) || follows_exit(&code, back) ||
        follows_call_of_exit(&code))
        class |= PROF_INSTRUCTION_VM_EXIT;
    if (follows_enabling(&code, back))
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
    uint32_t address = *prof_address_slot(pc);

    return address != 0 && (prof_instruction_class(prof_address_at(address)) &
                            PROF_INSTRUCTION_ENABLES_INTERRUPTS) != 0;
}

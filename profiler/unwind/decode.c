/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The instruction decoder; see decode.h.
 *
 * An instruction is prefixes, an opcode of one to three bytes, optionally a
 * ModRM byte with SIB and displacement, and optionally an immediate operand.
 */

#include "unwind/decode.h"

#include "unwind/forms.h"

#include <stdbool.h>
#include <stddef.h>

#define WORD ((intptr_t)sizeof(uintptr_t))
#define WIDE (sizeof(uintptr_t) == 8)

#define REX_W 8
#define REX_B 1
#define SP_NUMBER 4 /* of the registers in ModRM */
#define FP_NUMBER 5

/* The parts of an instruction. */
struct parts {
    const uint8_t *bytes;
    uint32_t length;       /* so far */
    uint32_t rex;          /* its low four bits */
    bool operand16;        /* prefix 0x66 */
    uint32_t opcode;       /* 0x0f.. for those of two bytes */
    uint32_t modrm;        /* 0 where there is none */
    uint32_t displacement; /* offset of its first byte */
    uint32_t number;       /* offset of the immediate, which ends at length */
};

static bool is_prefix(uint32_t byte)
{
    return byte == 0x66 || byte == 0x67 || byte == 0xf0 || byte == 0xf2 ||
           byte == 0xf3 || (byte & 0xe7) == 0x26 || byte == 0x64 ||
           byte == 0x65;
}

/* False: 16-bit addressing, whose ModRM encoding differs. */
static bool take_prefixes(struct parts *p)
{
    while (is_prefix(p->bytes[p->length]) && p->length < 8) {
        if (p->bytes[p->length] == 0x67 && !WIDE)
            return false;
        p->operand16 = p->operand16 || p->bytes[p->length] == 0x66;
        p->length++;
    }
    if (WIDE && (p->bytes[p->length] & 0xf0) == 0x40)
        p->rex = p->bytes[p->length++] & 15;
    return true;
}

/* ModRM, SIB and displacement (SDM vol. 2, tables 2-2 and 2-3). */
static void take_modrm(struct parts *p)
{
    uint32_t mod, rm;

    p->modrm = p->bytes[p->length++];
    mod = p->modrm >> 6;
    rm = p->modrm & 7;
    p->displacement = p->length;
    if (mod == 3)
        return;
    if (rm == SP_NUMBER) {
        rm = p->bytes[p->length++] & 7;
        p->displacement++;
    }
    if (mod == 2 || (mod == 0 && rm == FP_NUMBER))
        p->length += 4;
    else if (mod == 1)
        p->length += 1;
}

static void take_one(struct parts *p)
{
    uint32_t whole = p->operand16 ? 2 : 4;
    uint32_t op = p->opcode, form = prof_forms[op];

    if ((form & PROF_FORM_MODRM) != 0)
        take_modrm(p);
    p->number = p->length;
    if ((form & PROF_FORM_BYTE) != 0 || (op == 0xf6 && (p->modrm & 0x30) == 0))
        p->length += 1;
    if (op == 0xe8 || op == 0xe9)
        p->length += 4;
    else if ((op & 0xf8) == 0xb8 && (p->rex & REX_W) != 0)
        p->length += 8;
    else if ((form & PROF_FORM_LONG) != 0 ||
             (op == 0xf7 && (p->modrm & 0x30) == 0))
        p->length += whole;
    if (op == 0xc2 || op == 0xca || op == 0xc8)
        p->length += 2;
    if ((op & 0xfc) == 0xa0)
        p->length += (uint32_t)WORD;
}

static void take_two(struct parts *p)
{
    uint32_t op = p->bytes[p->length++], form = prof_forms_two[op];

    p->opcode = 0x0f00 | op;
    if (op == 0x38 || op == 0x3a) {
        p->length++;
        take_modrm(p);
        p->number = p->length;
        p->length += op == 0x3a;
        return;
    }
    if ((form & PROF_FORM_MODRM) != 0)
        take_modrm(p);
    p->number = p->length;
    if ((form & PROF_FORM_BYTE) != 0)
        p->length += 1;
    if ((form & PROF_FORM_LONG) != 0)
        p->length += 4;
}

/* Far calls and jumps, VEX, EVEX, and opcodes invalid in 64-bit mode. */
static bool is_unknown(uint32_t op)
{
    return op == 0x62 || op == 0x9a || op == 0xc4 || op == 0xc5 || op == 0xea;
}

static bool take_apart(struct parts *p)
{
    if (!take_prefixes(p))
        return false;
    p->opcode = p->bytes[p->length++];
    if (is_unknown(p->opcode))
        return false;
    if (p->opcode == 0x0f)
        take_two(p);
    else
        take_one(p);
    return true;
}

static intptr_t long_at(const uint8_t *at)
{
    int32_t value;

    __builtin_memcpy(&value, at, sizeof value);
    return value;
}

/* The signed operand of (bytes) bytes at offset (from). */
static intptr_t number_at(const struct parts *p, uint32_t from, uint32_t bytes)
{
    int16_t half;

    if (bytes == 1)
        return (int8_t)p->bytes[from];
    if (bytes != 2)
        return bytes == 0 ? 0 : long_at(p->bytes + from);
    __builtin_memcpy(&half, p->bytes + from, sizeof half);
    return half;
}

/* Whether the ModRM operand is the register (number), not r8 to r15. */
static bool is_register(const struct parts *p, uint32_t number)
{
    return p->modrm >> 6 == 3 && (p->modrm & 7) == number &&
           (p->rex & REX_B) == 0;
}

static uint32_t reg_of(const struct parts *p)
{
    return p->modrm >> 3 & 7;
}

/* add, sub, and and so on of sp and an immediate: 0x81 and 0x83. */
static void arithmetic(const struct parts *p,
                       struct prof_instruction *instruction)
{
    if (!is_register(p, SP_NUMBER) || reg_of(p) == 7)
        return;
    instruction->effect = PROF_EFFECT_SP;
    instruction->value = number_at(p, p->number, p->length - p->number);
    if (reg_of(p) == 5)
        instruction->value = -instruction->value;
    else if (reg_of(p) != 0)
        instruction->effect = PROF_EFFECT_SP_LOST;
}

/* mov (to or from a register) and lea, if they write sp or fp. */
static void move(const struct parts *p, struct prof_instruction *instruction)
{
    bool stores = p->opcode == 0x89;
    uint32_t from = stores ? reg_of(p) : p->modrm & 7;
    bool direct = p->modrm >> 6 == 3;

    if (p->opcode == 0x8d && reg_of(p) == SP_NUMBER && (p->rex & 4) == 0) {
        bool own = (p->modrm & 0xc7) == 0x44 && p->bytes[p->number - 2] == 0x24;

        instruction->effect = own ? PROF_EFFECT_SP : PROF_EFFECT_SP_LOST;
        instruction->value = own ? number_at(p, p->displacement, 1) : 0;
    } else if (stores ? is_register(p, FP_NUMBER)
                      : p->opcode == 0x8b && reg_of(p) == FP_NUMBER && direct) {
        if (from == SP_NUMBER && (p->rex & 5) == 0)
            instruction->effect = PROF_EFFECT_SET_FP;
    } else if (stores ? is_register(p, SP_NUMBER)
                      : p->opcode == 0x8b && reg_of(p) == SP_NUMBER &&
                            (p->rex & 4) == 0) {
        instruction->effect = PROF_EFFECT_SP_LOST;
    }
}

static void push_or_pop(const struct parts *p,
                        struct prof_instruction *instruction)
{
    bool fp = (p->opcode & 7) == FP_NUMBER && (p->rex & REX_B) == 0;
    bool push = p->opcode < 0x58;

    instruction->effect = PROF_EFFECT_SP;
    instruction->value = push ? -WORD : WORD;
    if (fp)
        instruction->effect = push ? PROF_EFFECT_PUSH_FP : PROF_EFFECT_POP_FP;
    else if (p->opcode == 0x5c && (p->rex & REX_B) == 0)
        instruction->effect = PROF_EFFECT_SP_LOST;
}

static void to(const struct parts *p, struct prof_instruction *instruction,
               enum prof_effect effect)
{
    instruction->effect = effect;
    instruction->value =
        number_at(p, p->number, p->length - p->number) + (intptr_t)p->length;
}

/* inc, dec, call, jmp, push: 0xff. */
static void group_five(const struct parts *p,
                       struct prof_instruction *instruction)
{
    if (reg_of(p) == 4 || reg_of(p) == 5) {
        instruction->effect = PROF_EFFECT_END;
    } else if (reg_of(p) == 6) {
        instruction->effect = PROF_EFFECT_SP;
        instruction->value = -WORD;
    }
}

static void stack_word(struct prof_instruction *instruction, intptr_t value)
{
    instruction->effect = PROF_EFFECT_SP;
    instruction->value = value;
}

/* What one of 0x0f.. does. */
static void classify_two(const struct parts *p,
                         struct prof_instruction *instruction)
{
    if ((p->opcode & 0xfff0) == 0x0f80)
        to(p, instruction, PROF_EFFECT_BRANCH);
    else if (p->opcode == 0x0f0b)
        instruction->effect = PROF_EFFECT_END;
}

/* What it does, by opcode. */
static void classify(const struct parts *p,
                     struct prof_instruction *instruction)
{
    uint32_t op = p->opcode;

    if (op > 0xff)
        classify_two(p, instruction);
    else if ((op & 0xf0) == 0x50)
        push_or_pop(p, instruction);
    else if (op == 0x68 || op == 0x6a || op == 0x9c)
        stack_word(instruction, -WORD);
    else if (op == 0x9d || op == 0x8f)
        stack_word(instruction, WORD);
    else if (op == 0x81 || op == 0x83)
        arithmetic(p, instruction);
    else if (op == 0x89 || op == 0x8b || op == 0x8d)
        move(p, instruction);
    else if (op == 0xc9)
        instruction->effect = PROF_EFFECT_LEAVE;
    else if (op == 0xc2 || op == 0xc3)
        instruction->effect = PROF_EFFECT_RETURN;
    else if (op == 0xe8)
        instruction->effect = PROF_EFFECT_CALL;
    else if (op == 0xe9 || op == 0xeb)
        to(p, instruction, PROF_EFFECT_JUMP);
    else if ((op & 0xf0) == 0x70 || (op & 0xfc) == 0xe0)
        to(p, instruction, PROF_EFFECT_BRANCH);
    else if (op == 0xff)
        group_five(p, instruction);
    else if (op == 0xca || op == 0xcb || op == 0xcc || op == 0xcf || op == 0xc8)
        instruction->effect = PROF_EFFECT_END;
}

struct prof_instruction prof_decode_all(const uint8_t *bytes)
{
    struct parts parts = {.bytes = bytes};
    struct prof_instruction instruction = {.effect = PROF_EFFECT_OTHER};

    if (!take_apart(&parts) || parts.length > PROF_INSTRUCTION_BYTES_MAX) {
        instruction.effect = PROF_EFFECT_END;
        return instruction;
    }
    instruction.length = parts.length;
    classify(&parts, &instruction);
    return instruction;
}

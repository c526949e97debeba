/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Lengths and kinds of instructions; see code.h.
 *
 * An instruction is prefixes, an opcode of one to three bytes, perhaps a ModRM
 * byte with what follows from it, perhaps a number. What there is follows from
 * the opcode: one bit each in the tables below, bit 0 of word 0 being opcode
 * 0x00.
 */

#include "code.h"

#include <stdbool.h>
#include <stddef.h>

#define WORD ((intptr_t)sizeof(uintptr_t))
#define WIDE (sizeof(uintptr_t) == 8)

#define REX_W 8
#define REX_B 1
#define SP_NUMBER 4 /* of the registers in ModRM */
#define FP_NUMBER 5

/* clang-format off */

/* Opcodes of one byte with a ModRM byte. */
static const uint32_t one_modrm[8] = {
    0x0f0f0f0f, 0x0f0f0f0f, 0x00000000, 0x00000a08,
    0x0000ffff, 0x00000000, 0xff0f00c3, 0xc0c00000,
};
/* With a number of one byte. */
static const uint32_t one_byte[8] = {
    0x10101010, 0x10101010, 0x00000000, 0xffff0c00,
    0x0000000d, 0x00ff0100, 0x00302143, 0x000008ff,
};
/* With a number of two or four bytes, by operand size. */
static const uint32_t one_long[8] = {
    0x20202020, 0x20202020, 0x00000000, 0x00000300,
    0x00000002, 0xff000200, 0x00000080, 0x00000000,
};
/* Opcodes 0x0f.. without a ModRM byte, and those with a number of one byte. */
static const uint32_t two_plain[8] = {
    0x00004be0, 0x00ff0000, 0x00000000, 0x00800000,
    0x0000ffff, 0x00000707, 0x0000ff00, 0x00000000,
};
static const uint32_t two_byte[8] = {
    0x00000000, 0x00000000, 0x00000000, 0x000f0000,
    0x00000000, 0x04001010, 0x00000074, 0x00000000,
};

/* clang-format on */

static bool has(const uint32_t *table, uint32_t opcode)
{
    return (table[opcode >> 5] >> (opcode & 31) & 1) != 0;
}

/* An instruction taken apart. */
struct parts {
    const uint8_t *bytes;
    uint32_t length;       /* so far */
    uint32_t rex;          /* its low four bits */
    bool operand16;        /* prefix 0x66 */
    uint32_t opcode;       /* 0x0f.. for those of two bytes */
    uint32_t modrm;        /* 0 where there is none */
    uint32_t displacement; /* where it begins */
    uint32_t number;       /* where it begins; ends at length */
};

static bool is_prefix(uint32_t byte)
{
    return byte == 0x66 || byte == 0x67 || byte == 0xf0 || byte == 0xf2 ||
           byte == 0xf3 || (byte & 0xe7) == 0x26 || byte == 0x64 ||
           byte == 0x65;
}

/* False where 16-bit addresses would change what follows. */
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
    uint32_t op = p->opcode;

    if (has(one_modrm, op))
        take_modrm(p);
    p->number = p->length;
    if (has(one_byte, op) || (op == 0xf6 && (p->modrm & 0x30) == 0))
        p->length += 1;
    if (op == 0xe8 || op == 0xe9)
        p->length += 4;
    else if ((op & 0xf8) == 0xb8 && (p->rex & REX_W) != 0)
        p->length += 8;
    else if (has(one_long, op) || (op == 0xf7 && (p->modrm & 0x30) == 0))
        p->length += whole;
    if (op == 0xc2 || op == 0xca || op == 0xc8)
        p->length += 2;
    if ((op & 0xfc) == 0xa0)
        p->length += (uint32_t)WORD;
}

static void take_two(struct parts *p)
{
    uint32_t op = p->bytes[p->length++];

    p->opcode = 0x0f00 | op;
    if (op == 0x38 || op == 0x3a) {
        p->length++;
        take_modrm(p);
        p->number = p->length;
        p->length += op == 0x3a;
        return;
    }
    if (!has(two_plain, op))
        take_modrm(p);
    p->number = p->length;
    if (has(two_byte, op))
        p->length += 1;
    if ((op & 0xf0) == 0x80)
        p->length += 4;
}

/* Far calls, VEX, EVEX and what 64 bits do not have. */
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

/* The signed number of (bytes) bytes at (from). */
static intptr_t number_at(const struct parts *p, uint32_t from, uint32_t bytes)
{
    uint32_t value = 0;

    if (bytes == 1)
        return (int8_t)p->bytes[from];
    for (uint32_t i = 0; i < bytes && i < 4; i++)
        value |= (uint32_t)p->bytes[from + i] << (8 * i);
    return (int32_t)value;
}

/* The operand is the register (number) itself, and no extended one. */
static bool is_register(const struct parts *p, uint32_t number)
{
    return p->modrm >> 6 == 3 && (p->modrm & 7) == number &&
           (p->rex & REX_B) == 0;
}

static uint32_t reg_of(const struct parts *p)
{
    return p->modrm >> 3 & 7;
}

/* Arithmetic with sp and a number: 0x81 and 0x83. */
static void arithmetic(const struct parts *p, struct prof_code *code)
{
    if (!is_register(p, SP_NUMBER) || reg_of(p) == 7)
        return;
    code->kind = PROF_CODE_SP;
    code->value = number_at(p, p->number, p->length - p->number);
    if (reg_of(p) == 5)
        code->value = -code->value;
    else if (reg_of(p) != 0)
        code->kind = PROF_CODE_SP_LOST;
}

/* mov (to or from a register) and lea, where they write sp or fp. */
static void move(const struct parts *p, struct prof_code *code)
{
    bool stores = p->opcode == 0x89;
    uint32_t from = stores ? reg_of(p) : p->modrm & 7;
    bool direct = p->modrm >> 6 == 3;

    if (p->opcode == 0x8d && reg_of(p) == SP_NUMBER && (p->rex & 4) == 0) {
        bool own = (p->modrm & 0xc7) == 0x44 && p->bytes[p->number - 2] == 0x24;

        code->kind = own ? PROF_CODE_SP : PROF_CODE_SP_LOST;
        code->value = own ? number_at(p, p->displacement, 1) : 0;
    } else if (stores ? is_register(p, FP_NUMBER)
                      : p->opcode == 0x8b && reg_of(p) == FP_NUMBER && direct) {
        if (from == SP_NUMBER && (p->rex & 5) == 0)
            code->kind = PROF_CODE_SET_FP;
    } else if (stores ? is_register(p, SP_NUMBER)
                      : p->opcode == 0x8b && reg_of(p) == SP_NUMBER &&
                            (p->rex & 4) == 0) {
        code->kind = PROF_CODE_SP_LOST;
    }
}

static void push_or_pop(const struct parts *p, struct prof_code *code)
{
    bool fp = (p->opcode & 7) == FP_NUMBER && (p->rex & REX_B) == 0;
    bool push = p->opcode < 0x58;

    code->kind = PROF_CODE_SP;
    code->value = push ? -WORD : WORD;
    if (fp)
        code->kind = push ? PROF_CODE_PUSH_FP : PROF_CODE_POP_FP;
    else if (p->opcode == 0x5c && (p->rex & REX_B) == 0)
        code->kind = PROF_CODE_SP_LOST;
}

static void to(const struct parts *p, struct prof_code *code,
               enum prof_code_kind kind)
{
    code->kind = kind;
    code->value =
        number_at(p, p->number, p->length - p->number) + (intptr_t)p->length;
}

/* inc, dec, call, jmp, push: 0xff. */
static void group_five(const struct parts *p, struct prof_code *code)
{
    if (reg_of(p) == 4 || reg_of(p) == 5) {
        code->kind = PROF_CODE_END;
    } else if (reg_of(p) == 6) {
        code->kind = PROF_CODE_SP;
        code->value = -WORD;
    }
}

static void stack_word(struct prof_code *code, intptr_t value)
{
    code->kind = PROF_CODE_SP;
    code->value = value;
}

/* What it does, by opcode. */
static void classify(const struct parts *p, struct prof_code *code)
{
    uint32_t op = p->opcode;

    if ((op & 0xf0) == 0x50)
        push_or_pop(p, code);
    else if (op == 0x68 || op == 0x6a || op == 0x9c)
        stack_word(code, -WORD);
    else if (op == 0x9d || op == 0x8f)
        stack_word(code, WORD);
    else if (op == 0x81 || op == 0x83)
        arithmetic(p, code);
    else if (op == 0x89 || op == 0x8b || op == 0x8d)
        move(p, code);
    else if (op == 0xc9)
        code->kind = PROF_CODE_LEAVE;
    else if (op == 0xc2 || op == 0xc3)
        code->kind = PROF_CODE_RETURN;
    else if (op == 0xe9 || op == 0xeb)
        to(p, code, PROF_CODE_JUMP);
    else if ((op & 0xf0) == 0x70 || (op & 0xfc) == 0xe0 ||
             (op & 0xfff0) == 0x0f80)
        to(p, code, PROF_CODE_BRANCH);
    else if (op == 0xff)
        group_five(p, code);
    else if (op == 0x0f0b || op == 0xca || op == 0xcb || op == 0xcc ||
             op == 0xcf || op == 0xc8)
        code->kind = PROF_CODE_END;
}

struct prof_code prof_code_at(const uint8_t *bytes)
{
    struct parts parts = {.bytes = bytes};
    struct prof_code code = {.kind = PROF_CODE_OTHER};

    if (!take_apart(&parts) || parts.length > PROF_CODE_BYTES_MAX) {
        code.kind = PROF_CODE_END;
        return code;
    }
    code.length = parts.length;
    classify(&parts, &code);
    return code;
}

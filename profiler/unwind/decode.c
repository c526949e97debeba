/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The instruction decoder; see decode.h.
 *
 * An instruction is prefixes, an opcode of one to three bytes, optionally a
 * ModRM byte with SIB and displacement, and optionally an immediate operand.
 */

#include "unwind/decode.h"

#include <stdbool.h>
#include <stddef.h>

#define WORD ((intptr_t)sizeof(uintptr_t))
#define WIDE (sizeof(uintptr_t) == 8)

#define REX_W 8
#define REX_B 1
#define SP_NUMBER 4 /* of the registers in ModRM */
#define FP_NUMBER 5

/* clang-format off */

/* What follows a one-byte opcode, and what it does. */
enum form {
    P = 0,  /* nothing; neither on the stack nor to control flow */
    M = 1,  /* a ModRM byte */
    B = 2,  /* an immediate of 8 bits */
    L = 4,  /* one of 16 or 32 bits, by operand size */
    R = 8,  /* writes the register of ModRM, which may be sp or fp */
    E = 16, /* the same of its operand */
    J = 32, /* a conditional jump */
    X = 64, /* more than that: take_apart() and classify() know */
    BJ = B | J, BX = B | X, LX = L | X, MB = M | B, ME = M | E, ML = M | L,
    MR = M | R, MX = M | X, MBE = M | B | E, MLE = M | L | E,
};

static const uint8_t forms[256] = {
    M,  M,  M,  M,  B,  L,  P,  P,  M,  M,  M,  M,  B,  L,  P,  X, /* 00 */
    M,  M,  M,  M,  B,  L,  P,  P,  M,  M,  M,  M,  B,  L,  P,  P, /* 10 */
    M,  M,  M,  M,  B,  L,  X,  P,  M,  M,  M,  M,  B,  L,  X,  P, /* 20 */
    M,  M,  M,  M,  B,  L,  X,  P,  M,  M,  M,  M,  B,  L,  X,  P, /* 30 */
    P,  P,  P,  P,  P,  P,  P,  P,  P,  P,  P,  P,  P,  P,  P,  P, /* 40 */
    X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X,  X, /* 50 */
    P,  P,  X,  M,  X,  X,  X,  X,  LX, ML, BX, MB, P,  P,  P,  P, /* 60 */
    BJ, BJ, BJ, BJ, BJ, BJ, BJ, BJ, BJ, BJ, BJ, BJ, BJ, BJ, BJ, BJ, /* 70 */
    MB, MLE,MB, MBE,M,  M,  M,  M,  M,  ME, M,  MR, M,  MR, M,  MX, /* 80 */
    P,  P,  P,  P,  P,  P,  P,  P,  P,  P,  X,  P,  X,  X,  P,  P, /* 90 */
    X,  X,  X,  X,  P,  P,  P,  P,  B,  L,  P,  P,  P,  P,  P,  P, /* a0 */
    B,  B,  B,  B,  B,  B,  B,  B,  LX, LX, LX, LX, LX, LX, LX, LX, /* b0 */
    MB, MB, X,  X,  X,  X,  MB, ML, BX, X,  X,  X,  X,  B,  P,  X, /* c0 */
    M,  M,  M,  M,  B,  B,  P,  P,  M,  M,  M,  M,  M,  M,  M,  M, /* d0 */
    BX, BX, BX, BX, B,  B,  B,  B,  X,  X,  X,  BX, P,  P,  P,  P, /* e0 */
    X,  P,  X,  X,  P,  P,  MX, MX, P,  P,  P,  P,  P,  P,  M,  MX, /* f0 */
};

/* Opcodes 0x0f.. without a ModRM byte, and those with an 8-bit immediate: one
 * bit each, bit 0 of word 0 is 0x00. */
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
    uint32_t op = p->opcode;

    if ((forms[op] & M) != 0)
        take_modrm(p);
    p->number = p->length;
    if ((forms[op] & B) != 0 || (op == 0xf6 && (p->modrm & 0x30) == 0))
        p->length += 1;
    if (op == 0xe8 || op == 0xe9)
        p->length += 4;
    else if ((op & 0xf8) == 0xb8 && (p->rex & REX_W) != 0)
        p->length += 8;
    else if ((forms[op] & L) != 0 || (op == 0xf7 && (p->modrm & 0x30) == 0))
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

/* The signed operand of (bytes) bytes at offset (from). */
static intptr_t number_at(const struct parts *p, uint32_t from, uint32_t bytes)
{
    uint32_t value = 0;

    if (bytes == 1)
        return (int8_t)p->bytes[from];
    for (uint32_t i = 0; i < bytes && i < 4; i++)
        value |= (uint32_t)p->bytes[from + i] << (8 * i);
    return (int32_t)value;
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

/* What it does, by opcode. */
static void classify(const struct parts *p,
                     struct prof_instruction *instruction)
{
    uint32_t op = p->opcode;

    if ((op & 0xf0) == 0x50)
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
    else if (op == 0xe9 || op == 0xeb)
        to(p, instruction, PROF_EFFECT_JUMP);
    else if ((op & 0xf0) == 0x70 || (op & 0xfc) == 0xe0 ||
             (op & 0xfff0) == 0x0f80)
        to(p, instruction, PROF_EFFECT_BRANCH);
    else if (op == 0xff)
        group_five(p, instruction);
    else if (op == 0x0f0b || op == 0xca || op == 0xcb || op == 0xcc ||
             op == 0xcf || op == 0xc8)
        instruction->effect = PROF_EFFECT_END;
}

static __attribute__((noinline)) struct prof_instruction
take_all(const uint8_t *bytes)
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

/* Bytes after a ModRM byte at (at): SIB and displacement. */
static uint32_t after_modrm(const uint8_t *at)
{
    uint32_t mod = at[0] >> 6, rm = at[0] & 7, bytes = 0;

    if (mod == 3)
        return 0;
    if (rm == SP_NUMBER) {
        bytes = 1;
        rm = at[1] & 7;
    }
    if (mod == 1)
        return bytes + 1;
    return mod == 2 || rm == FP_NUMBER ? bytes + 4 : bytes;
}

/* Whether the operation of (form) with the ModRM byte (modrm) writes neither sp
 * nor fp, nor r12 nor r13, which have the same lower bits. */
static bool is_harmless(uint32_t form, uint32_t modrm)
{
    if ((form & R) != 0)
        return (modrm >> 3 & 6) != SP_NUMBER;
    return (form & E) == 0 || modrm >> 6 != 3 || (modrm & 6) != SP_NUMBER;
}

/* The instruction at (bytes), if it is one of those that forms[] suffices for;
 * else its length is 0. */
static inline struct prof_instruction decode_simple(const uint8_t *bytes)
{
    const uint8_t *at = bytes;
    uint32_t form;

    if (WIDE && (*at & 0xf0) == 0x40)
        at++;
    form = forms[*at++];
    if ((form & J) != 0)
        return (struct prof_instruction){(uint32_t)(at - bytes) + 1,
                                         PROF_EFFECT_BRANCH,
                                         (int8_t)*at + (at - bytes) + 1};
    if ((form & X) != 0 || !is_harmless(form, *at))
        return (struct prof_instruction){0};
    if ((form & M) != 0)
        at += 1 + after_modrm(at);
    at += (form & (B | L)) / 2 + (form & L) / 2;
    return (struct prof_instruction){(uint32_t)(at - bytes), PROF_EFFECT_OTHER,
                                     0};
}

struct prof_instruction prof_decode(const uint8_t *bytes)
{
    struct prof_instruction simple = decode_simple(bytes);

    return simple.length != 0 ? simple : take_all(bytes);
}

/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The instruction decoder; see decode.h.
 *
 * An instruction is prefixes, an opcode of one to three bytes, optionally a
 * ModRM byte with SIB and displacement, and optionally an immediate operand.
 * For most instructions a table suffices; the others are taken apart.
 */

#include "unwind/decode.h"

#include "unwind/forms.h"

#include <stdbool.h>
#include <stddef.h>

#define WORD ((intptr_t)sizeof(uintptr_t))
#define WIDE (sizeof(uintptr_t) == 8)
#define SP_NUMBER 4u /* of the registers in ModRM */
#define FP_NUMBER 5u
#define REX_W 8
#define REX_B 1

/* What follows each opcode, forms.h. */
/* clang-format off */
enum {
    P = PROF_FORM_PLAIN, M = PROF_FORM_MODRM, B = PROF_FORM_BYTE,
    L = PROF_FORM_LONG, R = PROF_FORM_REGISTER, E = PROF_FORM_OPERAND,
    J = PROF_FORM_JUMP, X = PROF_FORM_MORE, F = PROF_FORM_FIRST,
    BJ = B | J, LJ = L | J, BF = B | F, LF = L | F, BX = B | X, LX = L | X,
    MB = M | B, ME = M | E,
    ML = M | L, MR = M | R, MX = M | X, MBE = M | B | E, MLE = M | L | E,
};

const uint8_t prof_forms[256] = {
    M,  M,  M,  M,  B,  L,  P,  P,  M,  M,  M,  M,  B,  L,  P,  F, /* 00 */
    M,  M,  M,  M,  B,  L,  P,  P,  M,  M,  M,  M,  B,  L,  P,  P, /* 10 */
    M,  M,  M,  M,  B,  L,  X,  P,  M,  M,  M,  M,  B,  L,  X,  P, /* 20 */
    M,  M,  M,  M,  B,  L,  X,  P,  M,  M,  M,  M,  B,  L,  X,  P, /* 30 */
    P,  P,  P,  P,  P,  P,  P,  P,  P,  P,  P,  P,  P,  P,  P,  P, /* 40 */
    F,  F,  F,  F,  X,  X,  F,  F,  F,  F,  F,  F,  X,  X,  F,  F, /* 50 */
    P,  P,  X,  M,  X,  X,  X,  X,  LX, ML, BX, MB, P,  P,  P,  P, /* 60 */
    BJ, BJ, BJ, BJ, BJ, BJ, BJ, BJ, BJ, BJ, BJ, BJ, BJ, BJ, BJ, BJ, /* 70 */
    MB, MLE,MB, MBE,M,  M,  M,  M,  M,  ME, M,  MR, M,  MR, M,  MX, /* 80 */
    P,  P,  P,  P,  P,  P,  P,  P,  P,  P,  X,  P,  X,  X,  P,  P, /* 90 */
    X,  X,  X,  X,  P,  P,  P,  P,  B,  L,  P,  P,  P,  P,  P,  P, /* a0 */
    B,  B,  B,  B,  B,  B,  B,  B,  LF, LF, LF, LF, LX, LX, LF, LF, /* b0 */
    MB, MB, X,  F,  X,  X,  MB, ML, BX, F,  X,  X,  X,  B,  P,  X, /* c0 */
    M,  M,  M,  M,  B,  B,  P,  P,  M,  M,  M,  M,  M,  M,  M,  M, /* d0 */
    BX, BX, BX, BX, B,  B,  B,  B,  LF, LF, X,  BF, P,  P,  P,  P, /* e0 */
    X,  P,  X,  X,  P,  P,  MX, MX, P,  P,  P,  P,  P,  P,  M,  MX, /* f0 */
};

const uint8_t prof_forms_two[256] = {
    M,  M,  M,  M,  M,  P,  P,  P,  P,  P,  M,  X,  M,  M,  P,  M, /* 00 */
    M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M, /* 10 */
    M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M, /* 20 */
    P,  P,  P,  P,  P,  P,  P,  P,  X,  M,  X,  M,  M,  M,  M,  M, /* 30 */
    M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M, /* 40 */
    M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M, /* 50 */
    M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M, /* 60 */
    MB, MB, MB, MB, M,  M,  M,  P,  M,  M,  M,  M,  M,  M,  M,  M, /* 70 */
    LJ, LJ, LJ, LJ, LJ, LJ, LJ, LJ, LJ, LJ, LJ, LJ, LJ, LJ, LJ, LJ, /* 80 */
    M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M, /* 90 */
    P,  P,  P,  M,  MB, M,  M,  M,  P,  P,  P,  M,  MB, M,  M,  M, /* a0 */
    M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  MB, M,  M,  M,  M,  M, /* b0 */
    M,  M,  MB, M,  MB, MB, MB, M,  P,  P,  P,  P,  P,  P,  P,  P, /* c0 */
    M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M, /* d0 */
    M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M, /* e0 */
    M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M,  M, /* f0 */
};
/* clang-format on */

static intptr_t long_at(const uint8_t *at)
{
    int32_t value;

    __builtin_memcpy(&value, at, sizeof value);
    return value;
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
    const uint8_t *at = p->bytes + p->length++;

    p->modrm = *at;
    p->displacement =
        p->length + (*at >> 6 != 3 && (*at & 7) == SP_NUMBER ? 1 : 0);
    p->length += after_modrm(at);
}

/* The opcode, and what its table says that follows it. */
static void take_opcode(struct parts *p)
{
    uint32_t op = p->bytes[p->length++], form = prof_forms[op];

    if (op == 0x0f) {
        op = p->bytes[p->length++];
        form = prof_forms_two[op];
        if (op == 0x38 || op == 0x3a) {
            p->length++;
            form = op == 0x38 ? M : MB;
        }
        op |= 0x0f00;
    }
    p->opcode = op;
    if ((form & PROF_FORM_MODRM) != 0)
        take_modrm(p);
    p->number = p->length;
    p->length += form & PROF_FORM_BYTES;
}

/* What no table says of the immediate operand. */
static void take_rest(struct parts *p)
{
    uint32_t op = p->opcode;

    if ((op & ~1u) == 0xf6 && (p->modrm & 0x30) == 0)
        p->length += op == 0xf6 ? 1 : 4;
    if ((op & ~7u) == 0xb8 && (p->rex & REX_W) != 0)
        p->length += 4;
    if (p->operand16 && op <= 0xff && (op & ~1u) != 0xe8 &&
        p->length - p->number == 4)
        p->length -= 2;
    if (op == 0xc2 || op == 0xca || op == 0xc8)
        p->length += 2;
    if ((op & ~3u) == 0xa0)
        p->length += (uint32_t)WORD;
}

/* Far calls and jumps, VEX, EVEX, and opcodes invalid in 64-bit mode. */
static bool is_unknown(uint32_t op)
{
    return op == 0x62 || op == 0x9a || op == 0xc4 || op == 0xc5 || op == 0xea;
}

static bool take_apart(struct parts *p)
{
    if (!take_prefixes(p) || is_unknown(p->bytes[p->length]))
        return false;
    take_opcode(p);
    take_rest(p);
    return true;
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

/* Added to the effect of an opcode: it pushes or pops a word, or leads to its
 * operand. */
#define PUSHES 0x10u
#define POPS 0x20u
#define LEADS 0x40u

#define PUSH (PROF_EFFECT_SP | PUSHES)
#define POP (PROF_EFFECT_SP | POPS)

/* The effects of opcodes of one byte, but for those that classify() has. */
static const uint8_t effects[256] = {
    [0x50 ... 0x54] = PUSH,
    [0x55] = PROF_EFFECT_PUSH_FP | PUSHES,
    [0x56 ... 0x57] = PUSH,
    [0x58 ... 0x5b] = POP,
    [0x5c] = PROF_EFFECT_SP_LOST | POPS,
    [0x5d] = PROF_EFFECT_POP_FP | POPS,
    [0x5e ... 0x5f] = POP,
    [0x68] = PUSH,
    [0x6a] = PUSH,
    [0x70 ... 0x7f] = PROF_EFFECT_BRANCH | LEADS,
    [0x8f] = POP,
    [0x9c] = PUSH,
    [0x9d] = POP,
    [0xc2 ... 0xc3] = PROF_EFFECT_RETURN,
    [0xc8] = PROF_EFFECT_END,
    [0xc9] = PROF_EFFECT_LEAVE,
    [0xca ... 0xcc] = PROF_EFFECT_END,
    [0xcf] = PROF_EFFECT_END,
    [0xe0 ... 0xe3] = PROF_EFFECT_BRANCH | LEADS,
    [0xe8] = PROF_EFFECT_CALL,
    [0xe9] = PROF_EFFECT_JUMP | LEADS,
    [0xeb] = PROF_EFFECT_JUMP | LEADS,
};

static void classify(const struct parts *p,
                     struct prof_instruction *instruction)
{
    uint32_t op = p->opcode, effect = effects[(uint8_t)op];

    if (op > 0xff)
        effect = (op & 0xfff0) == 0x0f80 ? PROF_EFFECT_BRANCH | LEADS
                 : op == 0x0f0b          ? PROF_EFFECT_END
                                         : PROF_EFFECT_OTHER;
    if (op >> 4 == 5 && (p->rex & REX_B) != 0) /* r8 to r15 */
        effect = PROF_EFFECT_SP | (effect & (PUSHES | POPS));
    instruction->effect = effect & 15;
    if ((effect & LEADS) != 0)
        instruction->value = number_at(p, p->number, p->length - p->number) +
                             (intptr_t)p->length;
    if ((effect & (PUSHES | POPS)) != 0)
        instruction->value = (effect & PUSHES) != 0 ? -WORD : WORD;
    if (op == 0x81 || op == 0x83)
        arithmetic(p, instruction);
    else if (op == 0x89 || op == 0x8b || op == 0x8d)
        move(p, instruction);
    else if (op == 0xff)
        group_five(p, instruction);
}

/* Not inlined: it would take registers from the instructions above. */
static __attribute__((noinline)) struct prof_instruction
decode_parts(const uint8_t *bytes)
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

/* Whether the operation of (form) with the ModRM byte (modrm) writes neither sp
 * nor fp, nor r12 nor r13, which have the same lower bits. */
static bool is_harmless(uint32_t form, uint32_t modrm)
{
    if ((form & PROF_FORM_REGISTER) != 0)
        return (modrm >> 3 & 6) != SP_NUMBER;
    return (form & PROF_FORM_OPERAND) == 0 || modrm >> 6 != 3 ||
           (modrm & 6) != SP_NUMBER;
}

/* Where a jump of (form) leads, from its end; (at) is after the opcode. */
static intptr_t target(const uint8_t *at, uint32_t form)
{
    return (form & PROF_FORM_LONG) != 0 ? long_at(at) : (int8_t)*at;
}

/* An instruction of (length) bytes with (effect), and maybe a (value). */
static struct prof_instruction simple(uint32_t length, enum prof_effect effect,
                                      intptr_t value)
{
    return (struct prof_instruction){length, effect, value};
}

/* The same with opcode (op), which is frequent; (form) is that of the opcode,
 * (length) what it says, (wide) that the prefix REX.W is before it. */
static inline struct prof_instruction
simple_first(const uint8_t *at, uint32_t length, uint32_t form, bool wide)
{
    uint32_t op = at[-1];

    if ((op & 0xf0) == 0x50)
        return simple(length, PROF_EFFECT_SP, op < 0x58 ? -WORD : WORD);
    if ((op & 0xf8) == 0xb8)
        return simple(length + (wide ? 4 : 0), PROF_EFFECT_OTHER, 0);
    if (op == 0xe8)
        return simple(length, PROF_EFFECT_CALL, 0);
    if (op == 0xc3)
        return simple(length, PROF_EFFECT_RETURN, 0);
    if (op == 0xc9)
        return simple(length, PROF_EFFECT_LEAVE, 0);
    if (op == 0xe9 || op == 0xeb)
        return simple(length, PROF_EFFECT_JUMP,
                      target(at, form) + (intptr_t)length);
    return simple(0, PROF_EFFECT_OTHER, 0);
}

/* The effect of the instruction at (bytes), with (form) and ModRM byte (modrm):
 * whether it has an operand relative to the frame pointer. */
static inline enum prof_effect effect_of(const uint8_t *bytes, uint32_t form,
                                         uint32_t modrm)
{
    bool framed = (form & PROF_FORM_MODRM) != 0 && (modrm & 7) == FP_NUMBER &&
                  ((modrm >> 6) + 1) / 2 == 1 &&
                  !(WIDE && (*bytes & 0xf1) == 0x41);

    return framed ? PROF_EFFECT_FRAMED : PROF_EFFECT_OTHER;
}

/* The instruction at (bytes), if it is one of those that the tables suffice
 * for; else its length is 0. */
static inline struct prof_instruction decode_simple(const uint8_t *bytes)
{
    const uint8_t *at = bytes + (WIDE && (*bytes & 0xf0) == 0x40);
    uint32_t form = prof_forms[*at++], length;

    if (at[-1] == 0x0f)
        form = prof_forms_two[*at++];
    length = (uint32_t)(at - bytes) + (form & PROF_FORM_BYTES);
    if ((form & PROF_FORM_JUMP) != 0)
        return simple(length, PROF_EFFECT_BRANCH,
                      target(at, form) + (intptr_t)length);
    if ((form & PROF_FORM_FIRST) != 0)
        return simple_first(at, length, form, (*bytes & 0xf8) == 0x48);
    if ((form & PROF_FORM_MORE) != 0 || !is_harmless(form, *at))
        return simple(0, PROF_EFFECT_OTHER, 0);
    if ((form & PROF_FORM_MODRM) != 0)
        length += 1 + after_modrm(at);
    return simple(length, effect_of(bytes, form, *at), 0);
}

struct prof_instruction prof_decode(const uint8_t *bytes)
{
    struct prof_instruction instruction = decode_simple(bytes);

    return instruction.length != 0 ? instruction : decode_parts(bytes);
}

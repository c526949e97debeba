/* SPDX-License-Identifier: Apache-2.0 */

/* The forms of opcodes; see forms.h. */

#include "unwind/forms.h"

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

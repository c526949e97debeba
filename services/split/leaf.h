/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SPLIT_LEAF_H
#define SPLIT_LEAF_H

#include <stdint.h>

/*
 * Loop (turns) times, at least once. Each executes 4 * (turns + 2) instructions
 * of the same few kinds. Written in assembly, so that this does not depend on
 * the compiler.
 */
typedef uint32_t split_leaf(uint32_t turns);
split_leaf leaf_a, leaf_b, leaf_c, leaf_d;

/* Turns that make a leaf execute 4 * (units) instructions, units at least 3. */
#define SPLIT_TURNS(units) ((units)-2u)

#endif

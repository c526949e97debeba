/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SPLIT_LEVELS_H
#define SPLIT_LEVELS_H

#include "leaf.h"

/*
 * Six functions, each of which just calls the next one, and the last one (leaf)
 * with (turns). The service's main function is level 1, so the leaf is the
 * eighth frame.
 */
typedef uint32_t split_level(split_leaf *leaf, uint32_t turns);
split_level level_2, level_3, level_4, level_5, level_6, level_7;

#endif

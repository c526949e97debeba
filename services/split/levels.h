/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SPLIT_LEVELS_H
#define SPLIT_LEVELS_H

#include "leaf.h"

/*
 * Six functions that do nothing but call the next one, and the last of them
 * (leaf) with (turns). Called by the service's main function, which is level
 * 1, they make a leaf the eighth frame.
 */
typedef uint32_t split_level(split_leaf *leaf, uint32_t turns);
split_level level_2, level_3, level_4, level_5, level_6, level_7;

#endif

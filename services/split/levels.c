/* SPDX-License-Identifier: Apache-2.0 */
/* A call stack to be unwound: functions that are not inlined. */

#include "levels.h"

#define LEVEL(name, next)                                                      \
    __attribute__((noinline)) uint32_t name(split_leaf *leaf, uint32_t turns)  \
    {                                                                          \
        return next(leaf, turns) + 1;                                          \
    }

LEVEL(level_2, level_3)
LEVEL(level_3, level_4)
LEVEL(level_4, level_5)
LEVEL(level_5, level_6)
LEVEL(level_6, level_7)

__attribute__((noinline)) uint32_t level_7(split_leaf *leaf, uint32_t turns)
{
    return leaf(turns) + 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LK_LK_INIT_H
#define LK_LK_INIT_H

/* As many of LK's hooks as the kit has: one, which a thread of each other CPU
 * calls. */

#include <arch/ops.h>

enum { LK_INIT_LEVEL_LAST = 65535 };
enum { LK_INIT_FLAG_SECONDARY_CPUS = 2 };

#define LK_INIT_HOOK_FLAGS(label, call, hook_level, hook_flags)                \
    const struct lk_init_struct the_hook = {#label, call, hook_level,          \
                                            hook_flags}

struct lk_init_struct {
    const char *name;
    void (*hook)(uint level);
    uint level, flags;
};

extern const struct lk_init_struct the_hook;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UK_INIT_H
#define UK_INIT_H

struct uk_init_ctx;

/* As many calls at the end of the start as the kit has: one. */
#define uk_late_initcall(call, priority)                                       \
    int (*const late_initcall)(struct uk_init_ctx *) = call

extern int (*const late_initcall)(struct uk_init_ctx *);

#endif

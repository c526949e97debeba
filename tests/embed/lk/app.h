/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LK_APP_H
#define LK_APP_H

/* As much of an app as the kit uses: its name and its thread. kernel.c starts
 * the one that there is. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct app_descriptor {
    const char *name;
    void (*entry)(const struct app_descriptor *app, void *args);
};

/* clang-format off */
#define APP_START(app)                                                         \
    const struct app_descriptor the_app = { .name = #app,
#define APP_END };
/* clang-format on */

extern const struct app_descriptor the_app;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_SOURCE_HOOK_H
#define PROF_SOURCE_HOOK_H

/* The source `hook`, and what it has in common with `gate`: a rate that only
 * the kernel can change. */

#include <prof/config.h>
#include <prof/prof.h>
#include <stdbool.h>

/* Prepares it; false where it cannot work. Contexts: boot. */
bool prof_source_hook_open(const struct prof_config *config);

#if PROF_WITH_PIT
/* The rate of (config), or one that is measured. Prints it and (why) if the
 * options ask for another. False: it is not possible. Contexts: boot. */
bool prof_source_fixed_open(const struct prof_config *config, const char *why);

/* As set_period() of struct prof_source. */
int prof_source_fixed_period(uint32_t hz, bool on);
#endif

#endif

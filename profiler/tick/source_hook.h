/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_SOURCE_HOOK_H
#define PROF_SOURCE_HOOK_H

/* The source `hook`, beyond what every source does (source.h). */

#include <prof/prof.h>
#include <stdbool.h>

/* Takes over (config), and prints a line where options have no effect. False
 * where its rate cannot work. Contexts: boot, once. */
bool prof_source_hook_open(const struct prof_config *config);

#endif

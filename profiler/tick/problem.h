/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_PROBLEM_H
#define PROF_PROBLEM_H

#include <prof/prof.h>

/* Prints what prof_config_problem() finds in (config), one line, or nothing.
 * Part of PROF_WITH_BUILTIN. Contexts: boot. */
void prof_config_print_problem(const struct prof_config *config);

#endif

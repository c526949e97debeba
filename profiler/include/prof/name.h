/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_NAME_H
#define PROF_NAME_H

#include <prof/symbols.h>
#include <prof/text.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Writes the demangled name of (symbol), which prof_symbol_find() found: unless
 * (width) is 0, at most (width) columns, one for each UTF-8 character; a name
 * that was cut ends with "...". Names of 2 KiB or more are not demangled, and
 * no more than 4 KiB are written. A control character is written as '?'.
 *
 * Contexts: the thread that reports, or a panic, which may interrupt a report
 * that never resumes; not re-entrant, as the buffers are static. No allocation;
 * at most 1.2 KiB of stack.
 */
void prof_name_write(struct prof_text *out, const struct prof_symbol *symbol,
                     size_t width);

/* Whether (name) is the name of the function: mangled, demangled, or that
 * without arguments. Contexts and buffers as above. */
bool prof_name_is(const struct prof_symbol *symbol, const char *name);

#ifdef __cplusplus
}
#endif

#endif

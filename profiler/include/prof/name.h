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
 * Writes the demangled name of (symbol), a result of prof_symbol_find(), to
 * (out). A name longer than (width) columns, one for each UTF-8 character, is
 * cut and ends with "..."; 0: no such limit. Mangled names of 1,280 bytes or
 * more are not demangled, and any name is cut to 2,303 bytes. Writes '?' for a
 * control character.
 *
 * Contexts: the thread that reports, or a panic, which may interrupt a report
 * that never resumes. Not re-entrant, as the buffers are static. No allocation,
 * at most 1.2 KiB of stack.
 */
void prof_name_write(struct prof_text *out, const struct prof_symbol *symbol,
                     size_t width);

/* Returns whether (name) is the function's name: mangled, demangled, or
 * demangled without its arguments or the suffix of a clone (".cold").
 * Contexts: as prof_name_write(). */
bool prof_name_is(const struct prof_symbol *symbol, const char *name);

#ifdef __cplusplus
}
#endif

#endif

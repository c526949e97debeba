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
 * Writes the name of (symbol), which prof_symbol_find() found, for people:
 * demangled, and with (width) other than 0 in at most (width) columns, one for
 * each character of UTF-8. What is left out at the end is always replaced by
 * "...", be it for (width) or because a name is too long to be worked on: one
 * of 2 KiB or more is not demangled, and no more than 4 KiB are shown.
 *
 * Contexts: one at a time, for it works in static memory: the thread that
 * reports, or a panic. A panic may interrupt a report, which never goes on.
 * No allocation; at most 1.2 KiB of stack.
 */
void prof_name_write(struct prof_text *out, const struct prof_symbol *symbol,
                     size_t width);

/*
 * Whether (name) is what the function is called, by the linker or by people.
 * Contexts and buffers as above.
 */
bool prof_name_is(const struct prof_symbol *symbol, const char *name);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_FORMAT_TEXT_H
#define PROF_FORMAT_TEXT_H

#include <prof/text.h>

/*
 * Writes (format) with %s, %u, %ju and %%, which may have a width, in blanks.
 * A precision is not printf's: (value) is in units of the last of so many
 * decimals, and the width is that before the point. "%4.2u %%" with 123 writes
 * "   1.23 %". Contexts: as of <prof/text.h>.
 */
__attribute__((format(printf, 2, 3))) void
prof_text_format(struct prof_text *out, const char *format, ...);

#endif

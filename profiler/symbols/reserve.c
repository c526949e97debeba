/* SPDX-License-Identifier: Apache-2.0 */
/* In libprof.a a member of its own, which is linked only if the image opens an
 * embedded table and reserves no space for it. */

#include <prof/config.h>
#include <prof/symbols.h>

PROF_SYMBOLS_RESERVE(PROF_SYMBOLS_BYTES);

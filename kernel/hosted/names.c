/* SPDX-License-Identifier: Apache-2.0 */

/* Space for names (../names), with those of the C library: it is part of the
 * program. */

#include <prof/symbols.h>

PROF_SYMBOLS_RESERVE(262144);

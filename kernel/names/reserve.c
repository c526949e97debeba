/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Space for the names of an image's functions, which `embed` fills after the
 * link. An archive of its own: a program with more functions than fit writes
 * PROF_SYMBOLS_RESERVE(), with the size that embed says, in a source of its
 * own, and this one is not linked.
 *
 * The service irc needs 23 KiB of it, most images 17 KiB.
 */

#include <prof/symbols.h>

PROF_SYMBOLS_RESERVE(32768);

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_ACCOUNTS_H
#define PROF_ACCOUNTS_H

#include <prof/prof.h>
#include <prof/text.h>

/* The table's first lines: how long, how many, and the columns. */
void prof_accounts_head(struct prof_text *out, const struct prof_stats *stats);

/* Its closing lines: every tick since the start is in one of the accounts. */
void prof_accounts_close(struct prof_text *out, const struct prof_stats *stats);

/* (share), in 1/100 %, as "12.34 %" right-aligned in eight columns. */
void prof_accounts_share(struct prof_text *out, uint32_t share);

#endif

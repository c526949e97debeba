/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of a table; the rule is in tools/symbols. */

#include "embed.h"

struct functions select_functions(const struct functions *all)
{
    struct functions chosen = {embed_alloc(all->count, sizeof *all->at), 0};

    chosen.count = functions_choose(all->at, all->count, chosen.at);
    return chosen;
}

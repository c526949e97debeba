/* SPDX-License-Identifier: Apache-2.0 */

/* The drain's accounts and what the profile knows of the image; see accounts.h
 * and image.h. */

#include "aggregate/accounts.h"

#include "aggregate/drain.h"
#include "aggregate/image.h"
#include "aggregate/stacks.h"
#include "aggregate/sums.h"
#include "sample/cpu_state.h"

struct prof_accounts prof_accounts;
struct prof_image prof_image;

/* The frame vector stores 32-bit words, too short for 4 GiB of code or more. */
void prof_image_open(const struct prof_config *config)
{
    uintptr_t code = config->text.end - config->text.begin;

    prof_image = (struct prof_image){
        .text = config->text,
        .idle = config->idle,
        .text_base = config->text.begin + 1,
        .text_bytes = code < UINT32_MAX ? code : 0,
        .tsc_hz = config->tsc_hz,
        .drained_by = config->drained_by,
    };
}

void prof_drain_clear(void)
{
    (void)prof_sums(); /* counts what is pending */
    prof_stacks_clear();
    prof_sums_expire();
    if (PROF_WITH_BUILTIN)
        prof_drain_state.longest = 0;
}

uint32_t prof_drain_depth(void)
{
    return prof_cpus[0].depth;
}

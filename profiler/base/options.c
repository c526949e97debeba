/* SPDX-License-Identifier: Apache-2.0 */

#include "base/options.h"

struct prof_options prof_options_in_force = {
    PROF_OPTION_DEFAULTS,
    .callers = "",
    .vmm = "",
};

const struct prof_options *prof_options(void)
{
    return &prof_options_in_force;
}

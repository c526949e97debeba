/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROFILE_UNDER_SAMPLED_H
#define PROFILE_UNDER_SAMPLED_H

#include "trace/model.h"

/* Room for the line. */
#define UNDER_SAMPLED_TEXT_MAX 200u

/* Whether the guest's account of its event loop shows certainly more work than
 * the samples (<prof/under_sampled.h>), of a whole trace; (text): how much. */
bool under_sampled(const struct model *model, char *text);

#endif

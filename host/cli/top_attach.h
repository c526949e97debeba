/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_TOP_ATTACH_H
#define CLI_TOP_ATTACH_H

#include "input/request.h"

/*
 * The guest of (request) is sampled by `parasite attach`, as a process of its
 * own, whose packets become the target of (request). What it says is printed
 * when we end. If it has no guest, that is now, with its exit code.
 */
void top_attach(struct request *request);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_CHECK_H
#define CLI_CHECK_H

#include "trace/trace.h"

/* Prints what cannot be true in (trace), and what is missing, one line each;
 * JSON if (json). Returns STATUS_OK, or STATUS_DATA if anything cannot be
 * true. */
int check_trace(const struct trace *trace, bool json);

#endif

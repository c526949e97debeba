/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_CAUSAL_REPORT_H
#define PROF_CAUSAL_REPORT_H

/* The parts of the table of a causal profile. */

#include "causal/causal.h"

#include <prof/text.h>

/* For each kind of requests, how long they take at each speed-up. */
void prof_causal_write_latencies(struct prof_text *out);

/* What all figures rest on, and what is assumed. */
void prof_causal_write_basis(struct prof_text *out);

#endif

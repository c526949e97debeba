/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_OVERVIEW_H
#define SERVE_OVERVIEW_H

#include "report/report.h"
#include "serve/http.h"

/* Functions with less of the weight have no annotated code among the pages. */
#define OPEN_CODE_PERCENT 0.2

/* An HTML page: a summary of the trace, the hottest functions, and links to the
 * other pages. A maker of serve/http.h; its owner is a struct report whose view
 * is open and whose rows are functions. */
bool open_overview(const struct serve_order *order, FILE *out);

#endif

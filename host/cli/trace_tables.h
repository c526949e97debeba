/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_TRACE_TABLES_H
#define CLI_TRACE_TABLES_H

/* A trace as the tables of a store. */

#include "profile/view.h"
#include "store/client.h"

/* Sends the samples of (view) by minute and CPU, their stacks with names, an
 * account for each CPU, the loop's histograms, waits, missing packets and the
 * guest itself to (store), which has a spool. Times count from the guest's
 * boot; if that is unknown, from 1970-01-02. All but samples are those of the
 * whole trace and stand in its first minute. */
void trace_tables_send(struct view *view, struct store *store);

#endif

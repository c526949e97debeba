/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_ATTACH_WORDS_H
#define CLI_ATTACH_WORDS_H

/* Each ends the process if (text) is not such a value. */

/* A number of callers. */
unsigned attach_depth(const char *text);

/* A share of the time, "0.5%" or "0.005". */
double attach_share(const char *text);

#endif

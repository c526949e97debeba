/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTHER_H
#define OTHER_H

/* Calls a function twice() of its own. */
void other_work(void);

#endif

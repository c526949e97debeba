/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_STUB_H
#define PROF_STUB_H

/* The interrupt stub of the timer's gate: <width>/parasite.asm. Entered by the
 * CPU; never call it. */
void prof_parasite(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAGE_H
#define PAGE_H

#define PAGE_BYTES 4096u

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IMAGE_EMBEDDED_H
#define IMAGE_EMBEDDED_H

/* The symbol table that `parasite embed` put into an image (<prof/symtab.h>),
 * for an image whose own symbols were stripped. */

#include "image/image.h"

#include <libelf.h>

/* The build-id in the table's head; leaves (image) as it is if there is none.
 * The table itself is not looked at. */
void embedded_read_id(struct image *image, Elf *elf);

/* Reads all functions of the table, of either width, into (image), which has
 * none. Leaves it as it is if there is no table, or a damaged one. */
void embedded_read(struct image *image, Elf *elf);

#endif

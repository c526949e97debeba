/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IMAGE_DWARF_H
#define IMAGE_DWARF_H

/* Source lines and inlined functions from an ELF file's DWARF data. */

#include "image/image.h"

struct dwarf;

/* Opens the DWARF data of the ELF file (path). Returns NULL if it has none. */
struct dwarf *dwarf_open(const char *path);

/* A function at an address, the innermost first. Strings live as long as the
 * dwarf; (function) is NULL for the outermost one, which is named by its
 * symbol; (file) is NULL if it is unknown. */
struct dwarf_frame {
    const char *function;
    const char *file;
    int line;
};

size_t dwarf_at(struct dwarf *dwarf, uint64_t address,
                struct dwarf_frame *frames, size_t room);

/* Reads the whole table of lines of (image) into it: sorted by address, one
 * entry for each. Nothing if it has no DWARF data. */
void dwarf_read_lines(struct image *image);

/* DW_LANG_... of what is at (address), -1 = unknown. */
int dwarf_language(struct dwarf *dwarf, uint64_t address);

void dwarf_close(struct dwarf *dwarf);

#endif

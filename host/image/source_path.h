/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IMAGE_SOURCE_PATH_H
#define IMAGE_SOURCE_PATH_H

/* Paths of sources as DWARF data has them, tidied. */

/* Removes doubled slashes, "/./" and a repeated folder from (path). */
void source_path_tidy(char *path);

#endif

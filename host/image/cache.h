/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IMAGE_CACHE_H
#define IMAGE_CACHE_H

/*
 * Copies of images that were recorded, by their build-ids, so that old traces
 * can be read, and annotated, when the images have been built anew:
 *
 *     $PARASITE_CACHE, else $XDG_CACHE_HOME/parasite, else ~/.cache/parasite
 *
 * A PARASITE_CACHE that is empty or "off" is no cache. It has at most
 * $PARASITE_CACHE_MB MiB (CACHE_MB); what was not used for longest goes first.
 * Images without a build-id, or larger than that, are not kept. A cache that
 * cannot be written is no error.
 */

#include "image/image.h"

#define CACHE_MB 1024

/* Copies (image) and all that follow it. */
void cache_keep(const struct image *image);

/* The path of the image with this build-id, to be freed; NULL if there is
 * none. What is in it must be compared with the build-id. */
char *cache_find(const uint8_t *build_id, size_t bytes);

#endif

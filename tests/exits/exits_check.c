/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exits_check IMAGE [REGEX]: reads addresses, hexadecimal, one a line, and
 * prints those at which exits_at() says that a sample was in the hypervisor.
 */

#include "image/exits.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    struct image image;
    struct exits *exits;
    regex_t functions;
    uint64_t address;

    if (argc < 2 || (argc > 2 && regcomp(&functions, argv[2], REG_EXTENDED)))
        return 2;
    image_open(&image, argv[1]);
    exits = exits_open(&image, argc > 2 ? &functions : NULL);
    if (exits == NULL)
        return 1;
    while (scanf("%" SCNx64, &address) == 1)
        if (exits_at(exits, address))
            printf("%" PRIx64 "\n", address);
    exits_close(exits);
    image_close(&image);
    return 0;
}

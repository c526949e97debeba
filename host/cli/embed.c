/* SPDX-License-Identifier: Apache-2.0 */
/* parasite embed: gives a linked image the names of its own functions. The work
 * is done by host/embed. */

#include "base/log.h"
#include "cli/arguments.h"

#include "embed/embed.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static struct fill fill;
static bool quiet;

static bool take_image(char *word)
{
    if (fill.image != NULL)
        die_usage("one image at a time, not '%s' as well", word);
    fill.image = word;
    return true;
}

static void print_filled(const struct filled *filled)
{
    printf("%s: %zu functions in %" PRIu32 " of %" PRIu32 " bytes, build-id ",
           fill.output != NULL ? fill.output : fill.image, filled->functions,
           filled->bytes, filled->reserved);
    for (uint32_t i = 0; i < filled->build_id_bytes; ++i)
        printf("%02x", filled->build_id[i]);
    puts(filled->build_id_made ? " (made)" : "");
}

int command_embed(int argc, char **argv)
{
    static const struct argument options[] = {
        {"image", 'k', "ELF",
         "take the functions of this file: the same image before it was "
         "stripped",
         .text = &fill.symbols},
        {"output", 'o', "FILE",
         "write a copy of the image instead of changing it",
         .text = &fill.output},
        {"quiet", 'q', NULL, "print nothing but errors", .flag = &quiet},
        {0},
    };
    static const struct command_line line = {
        options, "IMAGE",
        "Put the names of its functions into the linked ELF file IMAGE, "
        "where it reserves space for them (PROF_SYMBOLS_RESERVE in "
        "<prof/symbols.h>). Do so before it is stripped or converted; "
        "as often as you like."
        "\vFor example:\n  parasite embed image.elf\n"
        "  parasite embed -k unstripped.elf image.elf",
        .take = take_image};
    struct filled filled;

    arguments_parse(&line, argc, argv);
    if (fill.image == NULL)
        die_usage("which image? For example: parasite embed kernel.elf");
    embed_program = log_name;
    filled = fill_image(&fill);
    if (filled.beyond > 0)
        log_info("%s: %zu functions were left out: 4 GiB or more away from "
                 "the others",
                 fill.image, filled.beyond);
    if (filled.relocatable)
        log_info("%s: position-independent: it gets names only where it runs "
                 "at the addresses that it was linked for",
                 fill.image);
    if (!quiet)
        print_filled(&filled);
    return STATUS_OK;
}

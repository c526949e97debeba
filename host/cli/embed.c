/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parasite embed: gives a linked image the names of its own functions. The work
 * is done by host/embed.
 */

#include "base/log.h"
#include "cli/arguments.h"
#include "cli/commands.h"

#include <argp.h>
#include "embed/embed.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct options {
    struct fill fill;
    bool quiet;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *options = state->input;

    switch (key) {
    case 'k':
        options->fill.symbols = arg;
        return 0;
    case 'o':
        options->fill.output = arg;
        return 0;
    case 'q':
        options->quiet = true;
        return 0;
    case ARGP_KEY_ARG:
        if (options->fill.image != NULL)
            die_usage("one image at a time, not '%s' as well", arg);
        options->fill.image = arg;
        return 0;
    case ARGP_KEY_END:
        if (options->fill.image == NULL)
            die_usage("which image? For example: parasite embed kernel.elf");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void print(const struct fill *fill, const struct filled *filled)
{
    printf("%s: %zu functions in %" PRIu32 " of %" PRIu32 " bytes, build-id ",
           fill->output != NULL ? fill->output : fill->image, filled->functions,
           filled->bytes, filled->reserved);
    for (uint32_t i = 0; i < filled->build_id_bytes; ++i)
        printf("%02x", filled->build_id[i]);
    puts(filled->build_id_made ? " (made)" : "");
}

int command_embed(int argc, char **argv)
{
    static const struct argp_option known[] = {
        {"image", 'k', "ELF", 0,
         "take the functions of this file: the same image before it was "
         "stripped",
         0},
        {"output", 'o', "FILE", 0,
         "write a copy of the image instead of changing it", 0},
        {"quiet", 'q', NULL, 0, "print nothing but errors", 0},
        {NULL, 0, NULL, 0, NULL, 0},
    };
    static const struct argp argp = {
        .options = known,
        .parser = parse,
        .args_doc = "IMAGE",
        .doc = "Put the names of its functions into the linked ELF file IMAGE, "
               "where it reserves space for them (PROF_SYMBOLS_RESERVE in "
               "<prof/symbols.h>). Do so before it is stripped or converted; "
               "as often as you like."
               "\vFor example:\n  parasite embed image.elf\n"
               "  parasite embed -k unstripped.elf image.elf",
    };
    struct options options = {.quiet = false};
    struct filled filled;

    arguments_parse(&argp, argc, argv, &options);
    embed_program = log_name;
    filled = fill_image(&options.fill);
    if (filled.beyond > 0)
        log_info("%s: %zu functions were left out: 4 GiB or more away from "
                 "the others",
                 options.fill.image, filled.beyond);
    if (filled.relocatable)
        log_info("%s: position-independent: it gets names only where it runs "
                 "at the addresses that it was linked for",
                 options.fill.image);
    if (!options.quiet)
        print(&options.fill, &filled);
    return STATUS_OK;
}

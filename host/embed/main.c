/* SPDX-License-Identifier: Apache-2.0 */
/* embed: what `parasite embed` does, for the build of our own images, which
 * then need neither that command nor its libraries; and the table alone, for
 * images that reserve no space. */

#include "embed/embed.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATUS_USAGE 2

enum action { ACTION_EMBED, ACTION_LIST };

static const char usage_text[] =
    "usage: embed IMAGE.elf                        put the symbol table in\n"
    "       embed [--width=32|64] IN.elf OUT.bin   write the symbol table\n"
    "       embed --list IN.elf                    print the functions: "
    "address, bytes, name\n";

static void write_table(const char *path, const struct table *table)
{
    FILE *out = fopen(path, "wb");
    bool written;

    if (out == NULL)
        embed_fail(path, "cannot be written: %s", strerror(errno));
    written = fwrite(table->bytes, 1, table->count, out) == table->count;
    if (fclose(out) == 0 && written)
        return;
    embed_fail(path, "cannot be written: %s", strerror(errno));
}

static void print_functions(const struct image *image)
{
    struct functions chosen = select_functions(&image->symbols);
    int digits = image->bits == 64 ? 16 : 8;

    embed_need_symbols(image);
    for (size_t i = 0; i < chosen.count; ++i)
        printf("%0*" PRIx64 " %7" PRIu64 " %s\n", digits, chosen.at[i].start,
               chosen.at[i].size, chosen.at[i].name);
    free(chosen.at);
}

static void put_table(const struct image *image, unsigned width,
                      const char *path)
{
    struct table table;

    if (width != 0 && image->bits != width)
        embed_fail(image->path,
                   "a %u-bit image, where one of %u bits is "
                   "wanted",
                   image->bits, width);
    table = table_make(image, NAMES_AS_PAYS);
    verify_table(image, table.bytes);
    write_table(path, &table);
    free(table.bytes);
}

static int bad_usage(void)
{
    fputs(usage_text, stderr);
    return STATUS_USAGE;
}

/* Returns 0, or the exit status. */
static int run_action(enum action action, unsigned width, char **paths,
                      int count)
{
    struct image image;

    if (count < 1 || count > 2 || (action == ACTION_LIST && count != 1) ||
        (width != 0 && count != 2))
        return bad_usage();
    if (action == ACTION_EMBED && count == 1) {
        fill_image(&(struct fill){.image = paths[0]});
        return 0;
    }
    embed_open(&image, paths[0]);
    if (action == ACTION_EMBED)
        put_table(&image, width, paths[1]);
    else
        print_functions(&image);
    embed_close(&image);
    if (fflush(stdout) != 0)
        embed_fail("standard output", "%s", strerror(errno));
    return 0;
}

/* 32 or 64, or 0 for anything else. */
static unsigned width_of(const char *word)
{
    if (strcmp(word, "32") == 0)
        return 32;
    return strcmp(word, "64") == 0 ? 64 : 0;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"list", no_argument, NULL, ACTION_LIST},
        {"width", required_argument, NULL, 'w'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    enum action action = ACTION_EMBED;
    unsigned width = 0;
    int option;

    while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        if (option == 'h')
            return fputs(usage_text, stdout) < 0;
        if (option == 'w' && (width = width_of(optarg)) != 0)
            continue;
        if (option == 'w' || option == '?')
            return bad_usage();
        action = (enum action)option;
    }
    return run_action(action, width, argv + optind, argc - optind);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page: a frame, written by hand, around the JSON document. The frame says
 * where style, document and script go; nothing else is in the page, and nothing
 * is fetched. The document is packed: 1.2 MB are 0.1 MB then.
 */

#include "annotate.h"
#include "packed.h"
#include "parasite.h"

#include <stdlib.h>
#include <string.h>

/* The assembler reads the files from the folder that the build runs in. */
#define FILE_AS(name, path)                                                    \
    __asm__(".section .rodata\n" #name ":\n"                                   \
            ".incbin \"" path "\"\n"                                           \
            ".byte 0\n"                                                        \
            ".previous\n");                                                    \
    extern const char name[]

FILE_AS(annotate_frame, "tools/annotate/page.html");
FILE_AS(annotate_style, "tools/annotate/page.css");
FILE_AS(annotate_script, "tools/annotate/page.js");

static void put_document(struct annotate *annotate, FILE *out)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *memory = open_memstream(&text, &bytes);

    if (memory == NULL || !annotate_write_json(annotate, memory) ||
        fclose(memory) != 0)
        fail("no memory for the page");
    packed_write(&(struct packed_part){text, bytes}, 1, out);
    free(text);
}

/* Writes the frame up to (mark), and returns what follows it. */
static const char *put_up_to(const char *frame, const char *mark, FILE *out)
{
    const char *here = strstr(frame, mark);

    fwrite(frame, 1, (size_t)(here - frame), out);
    return here + strlen(mark);
}

bool annotate_write_page(struct annotate *annotate, FILE *out)
{
    const char *rest = put_up_to(annotate_frame, "@CSS@", out);

    fputs(annotate_style, out);
    rest = put_up_to(rest, "@DATA@", out);
    put_document(annotate, out);
    rest = put_up_to(rest, "@JS@", out);
    fputs(annotate_script, out);
    fputs(rest, out);
    return !ferror(out);
}

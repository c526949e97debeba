/* SPDX-License-Identifier: Apache-2.0 */
/* The page: its payload is the JSON document, without columns. */

#include "annotate/annotate.h"
#include "base/log.h"
#include "page/page.h"

#include <stdlib.h>

bool annotate_write_page(struct annotate *annotate, FILE *out)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *memory = open_memstream(&text, &bytes);
    bool written;

    if (memory == NULL || !annotate_write_json(annotate, memory) ||
        fclose(memory) != 0)
        die("out of memory");
    written = page_write(&page_annotate, text, NULL, 0, out);
    free(text);
    return written;
}

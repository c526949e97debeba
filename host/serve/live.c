/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/live.h"

#include "page/page.h"

bool live_page_write(json_t *head, FILE *out)
{
    return page_write_head(&page_live, head, NULL, out);
}

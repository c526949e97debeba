/* SPDX-License-Identifier: Apache-2.0 */
/* Names for the page. */

#include "timeline/words.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

uint32_t words_of(struct words *words, size_t trace, uint16_t name)
{
    const struct guest_names *names;
    bool is_new;
    uint32_t number;

    if (name == 0)
        return 0;
    names = &words->timeline->traces[trace].tasks.names;
    number =
        index_add(&words->numbers, index_pair((uint32_t)trace, name), &is_new);
    if (is_new) {
        vector_reserve_one(&words->all, number, sizeof *words->all);
        words->all[number] = (struct word){
            .text = guest_names_text(names, name),
            .file = guest_names_file(names, name),
            .line = guest_names_line(names, name),
        };
    }
    return number + 1;
}

void words_put(const struct words *words, struct columns *columns)
{
    uint32_t count = words->numbers.count;

    columns_begin(columns, "word.line");
    columns_put(columns, 0);
    for (uint32_t i = 0; i < count; ++i)
        columns_put(columns, words->all[i].line);
    /* texts first, then files, both with that of no name */
    columns_begin(columns, "word.bytes");
    columns_put(columns, 0);
    for (uint32_t i = 0; i < count; ++i)
        columns_put(columns, strlen(words->all[i].text));
    columns_put(columns, 0);
    for (uint32_t i = 0; i < count; ++i)
        columns_put(columns, strlen(words->all[i].file));
    columns_begin(columns, "word.text");
    for (uint32_t i = 0; i < count; ++i)
        columns_put_bytes(columns, words->all[i].text,
                          strlen(words->all[i].text));
    for (uint32_t i = 0; i < count; ++i)
        columns_put_bytes(columns, words->all[i].file,
                          strlen(words->all[i].file));
}

void words_free(struct words *words)
{
    index_free(&words->numbers);
    free(words->all);
}

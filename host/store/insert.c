/* SPDX-License-Identifier: Apache-2.0 */

#include "store/insert.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static void skip_space(const char **at)
{
    while (isspace((unsigned char)**at))
        ++*at;
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Skips (word), in any case, and the space after it. */
static bool take_word(const char **at, const char *word)
{
    size_t bytes = strlen(word);

    if (strncasecmp(*at, word, bytes) != 0 || is_name((*at)[bytes]))
        return false;
    *at += bytes;
    skip_space(at);
    return true;
}

/* Skips a name, perhaps in backquotes or double quotes. */
static bool take_name(const char **at)
{
    const char *begin = *at;
    char quote = *begin;

    if (quote != '`' && quote != '"') {
        while (is_name(**at))
            ++*at;
        return *at > begin;
    }
    for (++*at; **at != quote; ++*at) {
        if (**at == '\\')
            ++*at;
        if (**at == '\0')
            return false;
    }
    ++*at;
    return true;
}

bool insert_parse(const char *sql, struct insert *insert)
{
    const char *at = sql;

    *insert = (struct insert){0};
    skip_space(&at);
    if (!take_word(&at, "INSERT") || !take_word(&at, "INTO"))
        return false;
    (void)take_word(&at, "TABLE");
    insert->table = at;
    if (!take_name(&at))
        return false;
    if (*at == '.' && (++at, !take_name(&at)))
        return false;
    insert->table_bytes = (size_t)(at - insert->table);
    skip_space(&at);
    if (*at == '(') {
        insert->columns = ++at;
        insert->columns_bytes = strcspn(at, "()");
        at += insert->columns_bytes;
        if (*at++ != ')')
            return false;
        skip_space(&at);
    }
    if (!take_word(&at, "FORMAT"))
        return false;
    insert->format = at;
    while (is_name(*at))
        ++at;
    insert->format_bytes = (size_t)(at - insert->format);
    skip_space(&at);
    if (*at == ';')
        ++at;
    skip_space(&at);
    return insert->format_bytes > 0 && *at == '\0' &&
           (insert->format_bytes != strlen("Values") ||
            strncasecmp(insert->format, "Values", strlen("Values")) != 0);
}

/* SPDX-License-Identifier: Apache-2.0 */

#include "store/answer.h"

#include "base/log.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static void add_byte(struct answer_reader *reader, char byte)
{
    if (reader->field_bytes + 1 >= reader->field_room) {
        reader->field_room =
            reader->field_room == 0 ? 64 : 2 * reader->field_room;
        reader->field = xreallocarray(reader->field, reader->field_room, 1);
    }
    reader->field[reader->field_bytes++] = byte;
}

/* Adds the bytes up to the next one that means something else; returns how many
 * there are. The first one does not. */
static size_t add_plain(struct answer_reader *reader, const char *bytes,
                        size_t count)
{
    size_t plain = 1;

    while (plain < count && bytes[plain] != '\t' && bytes[plain] != '\n' &&
           bytes[plain] != '\\')
        ++plain;
    if (reader->field_bytes + plain >= reader->field_room) {
        reader->field_room = 2 * (reader->field_bytes + plain) + 64;
        reader->field = xreallocarray(reader->field, reader->field_room, 1);
    }
    memcpy(reader->field + reader->field_bytes, bytes, plain);
    reader->field_bytes += plain;
    return plain;
}

/* Moves what was read of the field to a text of its own. */
static char *take_field(struct answer_reader *reader)
{
    char *text = NULL;

    if (!reader->is_null) {
        text = xreallocarray(NULL, reader->field_bytes + 1, 1);
        if (reader->field_bytes > 0)
            memcpy(text, reader->field, reader->field_bytes);
        text[reader->field_bytes] = '\0';
    }
    reader->field_bytes = 0;
    reader->is_null = false;
    return text;
}

static void end_field(struct answer_reader *reader)
{
    struct store_answer *answer = reader->answer;
    char *text = take_field(reader);
    size_t columns = answer->columns;

    if (text == NULL && reader->lines < 2)
        text = xstrdup("");
    if (reader->lines == 0) {
        VECTOR_ADD(answer->names, columns, text);
        answer->columns = (unsigned)columns;
    } else if (reader->column >= answer->columns) {
        reader->bad = true;
        free(text);
    } else if (reader->lines == 1) {
        columns = reader->column;
        VECTOR_ADD(answer->types, columns, text);
    } else {
        VECTOR_ADD(answer->values, reader->values, text);
    }
    ++reader->column;
}

static void end_line(struct answer_reader *reader)
{
    end_field(reader);
    if (reader->column != reader->answer->columns) {
        reader->bad = true; /* and (column) says how far it came */
        return;
    }
    reader->column = 0;
    if (++reader->lines > 2) {
        reader->lines = 2;
        ++reader->answer->rows;
    }
}

/* What follows a backslash (ClickHouse's documentation, TabSeparated). */
static void take_escape(struct answer_reader *reader, char byte)
{
    static const char letters[] = "bfnrt0";
    static const char meant[] = "\b\f\n\r\t";
    const char *found = byte == '\0' ? NULL : strchr(letters, byte);

    reader->escaped = false;
    if (byte == 'N' && reader->field_bytes == 0)
        reader->is_null = true;
    else
        add_byte(reader, found != NULL ? meant[found - letters] : byte);
}

bool answer_take(void *owner, const void *bytes, size_t count)
{
    struct answer_reader *reader = owner;
    const char *at = bytes;

    for (size_t i = 0; i < count && !reader->bad; ++i) {
        if (reader->escaped)
            take_escape(reader, at[i]);
        else if (at[i] == '\\')
            reader->escaped = true;
        else if (at[i] == '\t')
            end_field(reader);
        else if (at[i] == '\n')
            end_line(reader);
        else
            i += add_plain(reader, at + i, count - i) - 1;
    }
    return !reader->bad;
}

bool answer_end(struct answer_reader *reader)
{
    struct store_answer *answer = reader->answer;
    bool whole = !reader->bad && reader->field_bytes == 0 &&
                 reader->column == 0 && !reader->escaped;

    free(reader->field);
    reader->field = NULL;
    /* a statement that has no result says nothing at all */
    if (whole && (reader->lines == 2 || answer->columns == 0))
        return true;
    /* what there is of it must be freed by what its numbers say */
    for (size_t i = answer->rows * answer->columns; i < reader->values; ++i)
        free(answer->values[i]);
    if (reader->lines == 1)
        for (unsigned i = 0; i < reader->column && i < answer->columns; ++i)
            free(answer->types[i]);
    if (reader->lines < 2) {
        free(answer->types);
        answer->types = NULL;
    }
    return false;
}

void store_answer_free(struct store_answer *answer)
{
    for (unsigned i = 0; i < answer->columns; ++i) {
        free(answer->names[i]);
        if (answer->types != NULL)
            free(answer->types[i]);
    }
    for (size_t i = 0; i < answer->rows * answer->columns; ++i)
        free(answer->values[i]);
    free(answer->names);
    free(answer->types);
    free(answer->values);
    *answer = (struct store_answer){0};
}

uint64_t store_u64(const struct store_answer *answer, size_t row,
                   unsigned column)
{
    const char *value = store_value(answer, row, column);

    return value == NULL ? 0 : strtoull(value, NULL, 10);
}

double store_double(const struct store_answer *answer, size_t row,
                    unsigned column)
{
    const char *value = store_value(answer, row, column);

    return value == NULL ? 0 : strtod(value, NULL);
}

char *store_quote(const char *text, char *to, size_t room)
{
    size_t used = 0;

    if (room < sizeof "''")
        die("no room for a text of SQL");
    to[used++] = '\'';
    for (; *text != '\0' && used + 4 <= room; ++text) {
        if (*text == '\'' || *text == '\\')
            to[used++] = '\\';
        to[used++] = *text;
    }
    if (*text != '\0')
        used = 1;
    to[used++] = '\'';
    to[used] = '\0';
    return to;
}

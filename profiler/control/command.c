/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The grammar of commands is one table: a word, and the argument it takes.
 * Errors name the expected form, so that a user at a terminal can correct
 * the command without a manual.
 */

#include "control/command.h"

static const struct row {
    const char *word;
    enum prof_command_kind kind;
    const char *words;    /* one of these follows, or NULL; each ends with a
                             NUL, the last one with another */
    uint32_t least, most; /* bounds of the number that follows, inclusive; the
                             value of the first of (words); 0: nothing does */
    const char *error;    /* if the argument is not as it should be */
} rows[] = {
    {"start", PROF_COMMAND_START, NULL, 0, 0, "start takes no argument"},
    {"stop", PROF_COMMAND_STOP, NULL, 0, 0, "stop takes no argument"},
    {"rate", PROF_COMMAND_RATE, NULL, 1, 1000000000,
     "rate takes a frequency in Hz, 1 to 20000: rate 999"},
    {"depth", PROF_COMMAND_DEPTH, NULL, 0, 127,
     "depth takes a number, 0 to 127: depth 64"},
    {"stacks", PROF_COMMAND_STACKS, "off\0on\0", 0, 0,
     "stacks takes on or off"},
    {"trace", PROF_COMMAND_TRACE, "off\0on\0dump\0", 0, 0,
     "trace takes on, off or dump"},
    {"loop", PROF_COMMAND_LOOP, "reset\0report\0", PROF_COMMAND_LOOP_RESET, 0,
     "loop takes reset or report"},
    {"causal", PROF_COMMAND_CAUSAL, "start\0stop\0report\0",
     PROF_COMMAND_CAUSAL_START, 0,
     "causal takes start, stop, report or target NAME"},
    {"causal target", PROF_COMMAND_TARGET, NULL, 0, 0,
     "causal target takes the name of a function, or code: "
     "causal target main.c:42@148060+12"},
    {"reset", PROF_COMMAND_RESET, NULL, 0, 0, "reset takes no argument"},
    {"hello", PROF_COMMAND_HELLO, NULL, 0, 0, "hello takes no argument"},
    {"report", PROF_COMMAND_REPORT, NULL, 0, 0, "report takes no argument"},
};

static const char unknown[] =
    "not a command; commands are start, stop, rate HZ, "
    "depth N, stacks on|off, trace on|off|dump, loop reset|report, "
    "causal start|stop|report|target NAME, reset, hello, report";

static const char *skip_blanks(const char *text)
{
    while (*text == ' ' || *text == '\t')
        text++;
    return text;
}

/* The text after (word) and blanks; NULL if (text) does not begin with it. */
static const char *after_word(const char *text, const char *word)
{
    while (*word != '\0')
        if (*text++ != *word++)
            return NULL;
    return *text == '\0' || *text == ' ' || *text == '\t' ? skip_blanks(text)
                                                          : NULL;
}

/* Parses a decimal number within the bounds of (row), with nothing after it but
 * blanks. The loop ends before (sum) can overflow. */
static bool parse_number(const char *text, const struct row *row,
                         uint32_t *value)
{
    uint64_t sum = 0;
    unsigned digits = 0;

    for (; *text >= '0' && *text <= '9' && sum <= row->most; digits++)
        sum = sum * 10 + (uint64_t)(*text++ - '0');
    *value = (uint32_t)sum;
    return digits > 0 && *skip_blanks(text) == '\0' && sum >= row->least &&
           sum <= row->most;
}

/* The same for one of the words of (row), by their order. */
static bool parse_word(const char *text, const struct row *row, uint32_t *value)
{
    const char *word = row->words;

    for (*value = row->least; *word != '\0'; (*value)++) {
        const char *rest = after_word(text, word);

        if (rest != NULL && *rest == '\0')
            return true;
        while (*word++ != '\0')
            continue;
    }
    return false;
}

static bool parse_argument(const char *text, const struct row *row,
                           struct prof_command *command)
{
    uint32_t *value = &command->value;

    if (row->words != NULL)
        return parse_word(text, row, value);
    if (row->kind == PROF_COMMAND_TARGET) {
        *value = 0;
        command->name = text;
        return *text != '\0';
    }
    return row->most != 0 ? parse_number(text, row, value) : *text == '\0';
}

struct prof_command prof_command(const char *line)
{
    struct prof_command command = {.kind = PROF_COMMAND_BAD};

    line = skip_blanks(line);
    if (*line == '\0')
        command.kind = PROF_COMMAND_NONE;
    else
        command.error = unknown;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *rest = after_word(line, rows[i].word);

        if (rest == NULL)
            continue;
        if (parse_argument(rest, &rows[i], &command)) {
            command.kind = rows[i].kind;
            command.error = NULL;
        } else {
            command.error = rows[i].error;
        }
    }
    return command;
}

/* Bytes that cannot be printed are replaced, because the line is echoed in the
 * answer. What exceeds the line is counted as too long, not stored. */
bool prof_command_add(struct prof_command_line *line, uint8_t byte)
{
    if (line->complete)
        *line = (struct prof_command_line){0};
    if (byte == '\n' || byte == '\r') {
        line->text[line->used] = '\0';
        line->complete = true;
    } else if (line->used == PROF_COMMAND_MAX) {
        line->too_long = true;
    } else if ((byte >= ' ' && byte <= '~') || byte == '\t') {
        line->text[line->used++] = (char)byte;
    } else {
        line->text[line->used++] = '?';
    }
    return line->complete;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same for the text of a console: lines that were not touched make their
 * packets, with any other text in the log.
 */

#include "../unit.h"

#include "base/bytes.h"
#include "trace/console.h"

#define ROOM 2000u /* bytes of a packet: three lines */

#include "fault_maker.h"

struct log {
    char text[FAULT_PACKETS * 4 * 1200];
    size_t count;
};

static struct console *console_for(struct found *found)
{
    struct console *console = calloc(1, sizeof *console);

    console->sink = (struct packet_sink){note_found, found};
    return console;
}

static struct found read_log(const char *text, size_t count, size_t piece)
{
    struct found found = {0};
    struct console *console = console_for(&found);

    for (size_t at = 0; at < count; at += piece)
        console_feed(console, text + at,
                     count - at < piece ? count - at : piece);
    console_end(console);
    free(console);
    assert_int_equal(found.wrong, 0);
    return found;
}

static void put_text(struct log *log, const char *text)
{
    memcpy(log->text + log->count, text, strlen(text));
    log->count += strlen(text);
}

/* The lines of all packets, each one after (before). */
static struct log *log_of(const char *before)
{
    struct log *log = calloc(1, sizeof *log);
    char *lines = malloc(8 * 1200);

    for (unsigned i = 0; i < FAULT_PACKETS; ++i) {
        char *line = lines, *end;

        lines[made_lines(made, i, lines)] = '\0';
        for (; (end = strchr(line, '\n')) != NULL; line = end + 1) {
            char after = end[1];

            end[1] = '\0';
            put_text(log, before);
            put_text(log, line);
            end[1] = after;
        }
    }
    free(lines);
    return log;
}

TEST(pieces_of_any_size_do)
{
    struct log *log = log_of("");

    for (size_t piece = 1; piece < 3000; piece += 13)
        require_others(read_log(log->text, log->count, piece), 0);
    free(log);
}

TEST(other_output_may_stand_between)
{
    static const char *const before[] = {"hello\n", "[ 1.234 ] ",
                                         "*** Listing 12 samples ***\r\n\r\n",
                                         "#prof! ok\n", "\033[0m"};
    for (size_t i = 0; i < COUNT(before); ++i) {
        struct log *log = log_of(before[i]);

        require_others(read_log(log->text, log->count, 512), 0);
        free(log);
    }
}

TEST(a_flipped_bit_costs_at_most_its_packet)
{
    struct log *log = log_of("");
    size_t lines = 0;

    for (size_t at = 0; at < log->count; ++at) {
        struct found found;
        unsigned touched = (unsigned)(lines / 3);

        log->text[at] ^= 4;
        found = read_log(log->text, log->count, 4096);
        for (unsigned i = 0; i < FAULT_PACKETS; ++i) {
            if (i != touched &&
                !(log->text[at] == ('\n' ^ 4) && i == touched + 1))
                assert_int_equal(found.count[i], 1);
        }
        log->text[at] ^= 4;
        lines += log->text[at] == '\n';
    }
    free(log);
}

/* The lines of two packets taken in turns, and the second one's backwards. */
TEST(lines_may_come_in_any_order_and_again)
{
    static const unsigned order[] = {2, 1, 0, 1, 2};
    struct found found = {0};
    struct console *console = console_for(&found);

    for (unsigned i = 0; i < FAULT_PACKETS * 5; ++i) {
        unsigned sequence = i / 10 * 2 + i % 2, part = order[i % 10 / 2];
        size_t bytes, from = part * (size_t)PROF_LINE_BYTES;
        const uint8_t *packet = made_packet(made, sequence, &bytes);
        char line[1200];
        size_t rest = bytes - from;

        console_feed(
            console, line,
            made_line(line, sequence, part + 1, 3, packet + from,
                      rest < PROF_LINE_BYTES ? rest : PROF_LINE_BYTES));
    }
    console_end(console);
    free(console);
    assert_int_equal(found.wrong, 0);
    require_others(found, 0);
}

TEST(a_missing_line_costs_its_packet)
{
    struct log *log = log_of("");

    for (size_t at = 0, line = 0; at < log->count; ++line) {
        char *end = strchr(log->text + at, '\n');
        size_t bytes = (size_t)(end - log->text) + 1 - at;
        struct log *cut = calloc(1, sizeof *cut);

        memcpy(cut->text, log->text, at);
        memcpy(cut->text + at, end + 1, log->count - at - bytes);
        require_others(read_log(cut->text, log->count - bytes, 999),
                       1u << line / 3);
        free(cut);
        at += bytes;
    }
    free(log);
}

TEST(base64_is_strict)
{
    uint8_t out[16];
    size_t bytes;

    assert_true(base64_decode("Zm9vYmE=", 8, out, &bytes));
    assert_int_equal(bytes, 5);
    assert_memory_equal(out, "fooba", 5);
    assert_true(base64_decode("Zm9vYg==", 8, out, &bytes));
    assert_int_equal(bytes, 4);
    assert_false(base64_decode("", 0, out, &bytes));
    assert_false(base64_decode("Zm9vYmF", 7, out, &bytes));
    assert_false(base64_decode("Zm9vYh==", 8, out, &bytes));
    assert_false(base64_decode("Zm=v", 4, out, &bytes));
    assert_false(base64_decode("====", 4, out, &bytes));
    assert_false(base64_decode("Zm9 YmFy", 8, out, &bytes));
}

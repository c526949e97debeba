/* SPDX-License-Identifier: Apache-2.0 */
/* Answers among the other bytes that a guest sends. */

#include "input/send.h"

#include <prof/format.h>
#include <string.h>

#define MARK_BYTES (sizeof PROF_ANSWER_MARK - 1)

static void look_for_mark(struct answers *answers, char byte)
{
    if (byte == PROF_ANSWER_MARK[answers->matched])
        ++answers->matched;
    else
        answers->matched = byte == PROF_ANSWER_MARK[0];
    if (answers->matched == 1)
        answers->led = answers->fresh;
    answers->fresh = byte == '\n';
}

static void end_answer(struct answers *answers)
{
    size_t used = answers->used;

    answers->bytes += answers->led + MARK_BYTES + used + 1;
    if (used > 0 && answers->text[used - 1] == '\r')
        --used;
    answers->text[used] = '\0';
    answers->matched = answers->used = 0;
    answers->fresh = true;
    answers->take(answers->owner, answers->text);
}

void answers_feed(struct answers *answers, const void *bytes, size_t count)
{
    const char *at = bytes;

    for (size_t i = 0; i < count; ++i) {
        if (answers->matched < MARK_BYTES)
            look_for_mark(answers, at[i]);
        else if (at[i] == '\n')
            end_answer(answers);
        else if (answers->used < SEND_LINE_MAX - 1)
            answers->text[answers->used++] = at[i];
    }
}

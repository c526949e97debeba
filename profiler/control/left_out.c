/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of parts that were left out (<prof/config.h>), so that what calls
 * them still links: they do nothing, and say that the part is absent. Nothing
 * is compiled here of parts that are in.
 *
 * Calls within the profiler that must cost nothing are macros or inline
 * functions in the header that declares them.
 */

#include "base/cpu.h"
#include "loop/loop.h"
#include "report/report.h"
#include "unwind/prologue.h"

#include <prof/causal.h>
#include <prof/config.h>
#include <prof/error.h>
#include <prof/gain.h>
#include <prof/loop_stats.h>
#include <prof/poll.h>
#include <prof/port.h>
#include <prof/symbols.h>
#include <prof/trace.h>
#include <prof/transport.h>
#include <prof/user.h>

#pragma GCC diagnostic ignored "-Wunused-parameter"

/* A call that does nothing; that returns PROF_EABSENT; whose result is all 0,
 * without or with PROF_EABSENT; and any other, with its body. */
#define NOTHING(name, arguments)                                               \
    void name arguments                                                        \
    {                                                                          \
    }
#define ABSENT(name, arguments) CALL(int, name, arguments, return PROF_EABSENT)
#define ZERO(name, arguments, result)                                          \
    CALL(void, name, arguments, __builtin_memset(result, 0, sizeof *(result)))
#define ABSENT_ZERO(name, arguments, result)                                   \
    CALL(int, name, arguments, __builtin_memset(result, 0, sizeof *(result));  \
         return PROF_EABSENT)
#define CALL(type, name, arguments, ...)                                       \
    type name arguments                                                        \
    {                                                                          \
        __VA_ARGS__;                                                           \
    }

/* clang-format off */

#if !PROF_WITH_BUILTIN
NOTHING(prof_poll, (void))
NOTHING(prof_pool_open, (void *memory, size_t bytes))
NOTHING(prof_symbols_moved, (uintptr_t bytes))
CALL(uintptr_t, prof_symbols_moved_by, (void), return 0)
#endif

#if !PROF_WITH_ELF
ABSENT(prof_symbols_elf, (const struct prof_elf_symbols *symbols))
#endif

#if !PROF_WITH_USER
NOTHING(prof_sample_user, (void))
NOTHING(prof_space_set, (uint32_t number))
NOTHING(prof_space_name, (uint32_t number, const char *name))
#endif

#if !PROF_WITH_CALLERS
uint32_t prof_prologue_steps;

NOTHING(prof_prologue_add, (struct prof_prologue_head *head))
CALL(uint32_t, prof_prologue_caller,
     (uintptr_t pc, const struct prof_range *function,
      const struct prof_range *text, uint32_t framed),
     return PROF_PROLOGUE_FRAME)
#endif

#if !PROF_WITH_STREAM
CALL(const struct prof_transport *, prof_transport_choose,
     (const struct prof_transport *list, size_t count), return NULL)
NOTHING(prof_transport_use, (const struct prof_transport *transport))
NOTHING(prof_transport_end, (uint32_t code))
NOTHING(prof_transport_panic, (uint32_t code))
NOTHING(prof_transport_text,
        (const void *packet, size_t bytes, prof_text_sink *sink))
CALL(bool, prof_command_byte, (uint8_t byte), return false)
NOTHING(prof_command_forget, (void))
CALL(bool, prof_command_read, (int (*receive)(void), uint32_t drop_cycles),
     return false)
#endif

#if !PROF_WITH_TRACE
ABSENT(prof_trace_open, (void *memory, size_t bytes))
CALL(int, prof_trace_set_mode, (enum prof_trace_mode mode),
     return mode == PROF_TRACE_OFF ? PROF_OK : PROF_EABSENT)
CALL(enum prof_trace_mode, prof_trace_mode, (void), return PROF_TRACE_OFF)
ABSENT(prof_trace_dump, (void))
NOTHING(prof_trace_trigger, (void))
ZERO(prof_trace_stats, (struct prof_trace_stats *stats), stats)
#endif

#if !PROF_WITH_TREES
/* never called, because prof_option() rejects the options */
NOTHING(prof_report_call_tree,
        (struct prof_text *out, const struct prof_stats *stats))
NOTHING(prof_report_folded,
        (struct prof_text *out, const struct prof_stats *stats))
NOTHING(prof_report_callers,
        (struct prof_text *out, const char *name,
         const struct prof_stats *stats))
#endif

#if !PROF_WITH_LOOP
ABSENT(prof_loop_open, (void *memory, size_t bytes, uint64_t tsc_hz))
NOTHING(prof_loop_reset, (void))
ZERO(prof_loop_account, (struct prof_loop_account *account), account)
NOTHING(prof_loop_visit,
        (void (*visit)(const struct prof_loop_row *row, void *context),
         void *context))
CALL(uint64_t, prof_loop_quantile,
     (uint32_t number, enum prof_loop_measure measure, uint32_t permille),
     return 0)
NOTHING(prof_loop_buckets,
        (uint32_t number, enum prof_loop_measure measure,
         void (*visit)(uint64_t low, uint64_t high, uint64_t count,
                       void *context),
         void *context))
NOTHING(prof_loop_contexts,
        (void (*visit)(const struct prof_loop_context *node, void *context),
         void *context))
NOTHING(prof_loop_write_table,
        (uint32_t rows, enum prof_loop_by by, uint32_t width))
NOTHING(prof_loop_drained,
        (uint64_t tsc, uint64_t stolen_cycles, uint64_t period_cycles,
         uint64_t last_tsc))
NOTHING(prof_loop_send_again, (void))
NOTHING(prof_loop_send_last, (void))
#endif

#if !PROF_WITH_CAUSAL
CALL(uint64_t, prof_causal_real, (uint64_t due), return due)
CALL(struct prof_moment, prof_causal_now, (void),
     uint64_t now = prof_tsc(); return (struct prof_moment){now, now})
CALL(uint64_t, prof_causal_due, (void), return prof_tsc())
NOTHING(prof_causal_except, (uint64_t cycles))
NOTHING(prof_causal_add_progress, (struct prof_progress *point))
NOTHING(prof_causal_add_target, (struct prof_target *target))
NOTHING(prof_causal_add_latency, (struct prof_latency *latency))
NOTHING(prof_causal_visit, (struct prof_progress *point))
NOTHING(prof_causal_done, (struct prof_latency *latency, uint64_t began))
NOTHING(prof_causal_enter, (struct prof_target *target))
NOTHING(prof_causal_leave, (struct prof_target *target))
ABSENT(prof_causal_start, (const struct prof_causal_settings *settings))
ABSENT(prof_causal_fix, (const struct prof_target *target, uint32_t speedup))
NOTHING(prof_causal_stop, (void))
ABSENT_ZERO(prof_causal_quantiles,
            (const struct prof_target *target, uint32_t speedup,
             const struct prof_latency *latency,
             struct prof_quantiles *quantiles), quantiles)
ABSENT_ZERO(prof_causal_gain,
            (const struct prof_target *target, uint32_t speedup,
             const struct prof_progress *point, struct prof_gain *gain), gain)
ABSENT_ZERO(prof_causal_none,
            (const struct prof_progress *point, struct prof_gain *gain), gain)
ABSENT_ZERO(prof_causal_shares,
            (const struct prof_target *target, uint32_t speedup,
             struct prof_shares *shares), shares)
NOTHING(prof_causal_code, (const struct prof_image_code *code))
ABSENT(prof_causal_add_function,
       (const char *name, enum prof_causal_kind kind))
ABSENT(prof_causal_add_address,
       (uintptr_t address, enum prof_causal_kind kind))
CALL(bool, prof_causal_polls, (uintptr_t begin, size_t bytes), return false)
CALL(const struct prof_target *, prof_causal_target, (const char *name),
     return NULL)
NOTHING(prof_causal_switched, (uintptr_t begin, uintptr_t end))
ZERO(prof_causal_stats, (struct prof_causal_stats *stats), stats)
NOTHING(prof_causal_report, (void))
NOTHING(prof_causal_step, (void))
CALL(bool, prof_causal_hold, (uint64_t due, void *event), return false)
CALL(void *, prof_causal_take, (void), return NULL)
CALL(bool, prof_causal_withdraw, (const void *event), return false)
NOTHING(prof_causal_spin, (void))
NOTHING(prof_causal_found, (void))
NOTHING(prof_causal_turn, (void))
NOTHING(prof_causal_handler, (const void *kind))
NOTHING(prof_causal_handled, (void))
CALL(const void *, prof_causal_part, (const void *kind), return kind)
CALL(bool, prof_causal_owes_now, (void), return false)
NOTHING(prof_causal_refuse, (void))
NOTHING(prof_causal_again, (void))
NOTHING(prof_causal_assume, (struct prof_assumption *assumption))

/* Agents: without experiments an answer is due when it arrives. */
CALL(void, prof_agent_init,
     (struct prof_agent *agent, enum prof_agent_kind kind, uint32_t servers),
     *agent = (struct prof_agent){.kind = kind})
NOTHING(prof_agent_target,
        (struct prof_agent *agent, struct prof_target *target))
CALL(void, prof_agent_submit,
     (struct prof_agent *agent, struct prof_request *request,
      struct prof_moment now),
     *request = (struct prof_request){.cause = now})
CALL(uint64_t, prof_agent_answer,
     (struct prof_agent *agent, struct prof_request *request,
      uint64_t arrived),
     return arrived)
NOTHING(prof_agent_sent, (struct prof_agent *agent, struct prof_moment sent))
CALL(uint64_t, prof_agent_packet,
     (struct prof_agent *agent, uint64_t arrived, uint64_t now),
     return arrived)

NOTHING(prof_gain_add,
        (struct prof_progress_sum groups[PROF_GAIN_GROUPS], uint64_t cycles,
         uint32_t visits))
NOTHING(prof_gain_widen, (struct prof_gain *gain, uint64_t samples))
ABSENT_ZERO(prof_gain_of,
            (const struct prof_progress_sum normal[PROF_GAIN_GROUPS],
             const struct prof_progress_sum faster[PROF_GAIN_GROUPS],
             struct prof_gain *gain), gain)
#endif

/* clang-format on */

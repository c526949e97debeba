/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_NET_MODEL_H
#define KERNEL_NET_MODEL_H

/*
 * Frames in causal experiments: each one leaves the device's queue at once, and
 * is held until it is due on the virtual clock (agents.h). Contexts: thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What becomes of a frame that is due, and then of those that came meanwhile:
 * see (more) of struct loop_answer. */
struct net_model_taker {
    void (*take)(const uint8_t *frame, size_t bytes, bool sum_good);
    bool (*more)(void);
};

/* Before frames are taken, in each turn. Returns whether experiments run: then
 * interrupts of the device are wanted, which say when frames arrive. */
bool net_model_turn(void);

/* Copies the frame and holds it, which arrived at (arrived), until it is due;
 * then it is passed to (taker), which MUST remain valid. If it cannot be held,
 * it is so at once. */
void net_model_hold(const uint8_t *frame, size_t bytes, bool sum_good,
                    uint64_t arrived, const struct net_model_taker *taker);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_NET_AGENTS_H
#define KERNEL_NET_AGENTS_H

/*
 * Peers in causal experiments (<prof/causal.h>): when is a frame due on the
 * virtual clock? That depends on what kind of peer has sent it, which
 * net.peer=KIND says, or net.peer=KIND:PORT for a port of ours or theirs:
 *
 *   closed   It waits for our answers: what it sends was caused by what we
 *            sent last, or by its own last packet. A new connection is taken
 *            for the next of the peer at that address that has waited longest.
 *            Nothing waits for the acknowledgement of the peer's own FIN.
 *   open     Bytes and new connections of all peers of the port come at times
 *            of their own choice, and keep their intervals. What TCP itself
 *            answers is closed, and so is the first packet with bytes of each
 *            connection, which waits for the handshake.
 *   partly   Connections come at times of the peers' own choice, and what
 *            they send in one waits for our answers.
 *
 * All frames but those of TCP and UDP are due at once. Used while experiments
 * run only, and forgotten after them. Contexts: thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Connections and clients that are known at a time; of others, nothing is
 * known to have caused what they send. */
#define NET_AGENTS_MAX 4096u

/* The frame of (bytes) bytes was queued, and what is queued is sent now. */
void net_agents_queued(const uint8_t *frame, size_t bytes);
void net_agents_sent(void);

/* When the frame is due that arrived at (arrived), by the TSC. */
uint64_t net_agents_due(const uint8_t *frame, size_t bytes, uint64_t arrived);

/* Experiments have ended. */
void net_agents_forget(void);

/* Known now. */
uint32_t net_agents_known(void);

#endif

// SPDX-License-Identifier: Apache-2.0
const TASKS_STATE = {"pending": 0, "running": 1, "paused": 2, "waiting": 3, "ready": 4, "ended": 5, "unknown": 6};
const TASKS_END = {"open": 0, "resolved": 1, "failed": 2, "cancelled": 3, "gone": 4, "became": 5, "lost": 6, "unseen": 7};
const TASKS_EDGE_KIND = {"create": 0, "read": 1, "try_read": 2, "resolve": 3, "fail": 4, "cancel": 5, "signal": 6, "wake": 7, "become": 8, "defer": 9};

; SPDX-License-Identifier: Apache-2.0
; A kernel's own handler that samples; hook.h of the test that it is from.

%include "tests/guest/profiler/hook_ticks_are_sampled/hook.asm"

; SPDX-License-Identifier: Apache-2.0
; A loader that says how much memory there is, but not where.
%define KEEP_SIZE
%include "tests/guest/boot/no_map.inc"

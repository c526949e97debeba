; SPDX-License-Identifier: Apache-2.0
; A loader that says nothing about memory.
%include "tests/guest/boot/no_map.inc"

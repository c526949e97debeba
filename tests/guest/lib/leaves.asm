; SPDX-License-Identifier: Apache-2.0
; The leaves of services/split, whose instructions are counted there.

%ifidn __OUTPUT_FORMAT__, elf64
%include "services/split/x86_64/leaf.asm"
%else
%include "services/split/i386/leaf.asm"
%endif

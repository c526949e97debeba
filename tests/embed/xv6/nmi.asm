; SPDX-License-Identifier: Apache-2.0
;
; The kernel's own handler of NMIs, which counts them.

extern  nmis
global  nmi_entry

section .text
nmi_entry:
        lock inc dword [nmis]
        iret

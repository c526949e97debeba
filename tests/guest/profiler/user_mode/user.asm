; SPDX-License-Identifier: Apache-2.0
;
; A timer interrupt of user code, as the CPU leaves it on the stack:
;
;   void user_tick(uintptr_t handler);   enters (handler) with such a frame
;   user_handler                         the kernel's: returns from user_tick()
;                                        where the frame is one of these, else
;                                        goes on to the handler in user_next

%include "tests/guest/both.inc"

        section .text
        global  user_tick:function (user_tick.end - user_tick)
        global  user_handler:function (user_handler.end - user_handler)
        global  user_next

%define PC 0x1000

%if WORD_BYTES == 8
user_tick:
        push    0x3b                    ; ss
        push    0x7ff0                  ; rsp
        pushfq
        push    0x33                    ; cs
        push    PC                      ; rip
        jmp     rdi
.end:
user_handler:
        test    byte [rsp + 8], 3
        jz      .kernel
        add     rsp, 5 * 8
        ret
.kernel:
        jmp     [user_next]
.end:
%else
user_tick:
        mov     eax, [esp + 4]
        push    0x2b                    ; ss
        push    0x7ff0                  ; esp
        pushfd
        push    0x23                    ; cs
        push    PC                      ; eip
        jmp     eax
.end:
user_handler:
        test    byte [esp + 4], 3
        jz      .kernel
        add     esp, 5 * 4
        ret
.kernel:
        jmp     [user_next]
.end:
%endif

        section .bss
        align   WORD_BYTES
user_next:  resb WORD_BYTES

        section .note.GNU-stack noalloc noexec nowrite progbits

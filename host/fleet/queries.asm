; SPDX-License-Identifier: Apache-2.0
;
; extern const struct fleet_query fleet_queries[]; (query.c)
;
; The texts of the queries, by their names; the last one has none.

%macro query 1
    %defstr %%name %1
    %strcat %%file %%name, ".sql"
    section .rodata.text
    %%named: db %%name, 0
    %%begin: incbin %%file
    %%end:
    section .data.rel.ro progbits alloc noexec write align=8
    dq %%named, %%begin, %%end
%endmacro

section .data.rel.ro progbits alloc noexec write align=8
global fleet_queries
fleet_queries:
query builds
query claims
query delays
query folded
query functions
query guest_stacks
query guests
query identities
query losses
query minutes
query named
query names
query mix_names
query mixed
query mixes
query paths
query stacks
query waits
query weights
    section .data.rel.ro
    dq 0, 0, 0

section .note.GNU-stack noalloc noexec nowrite progbits

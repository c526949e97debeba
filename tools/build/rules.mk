# SPDX-License-Identifier: Apache-2.0
#
# Objects for programs of the host, and the demangler as a library for them.
# Included by the Makefile.

host_room.profiler = -I$(rooms)/$(word 2,$(subst /, ,$<))
host_room.host = -I$(BUILD)/rooms/host/$(word 2,$(subst /, ,$<))
host_room.arch = -Iarch/include
host_room.kernel = -Ikernel/include -Idrivers -Iarch/include
host_room.services = -Ikernel/include
host_room.tests = $(if $(filter tests/unit/kernel/% tests/unit/services/%,$<),\
    -Ikernel/include -Idrivers) $(if $(filter tests/unit/arch/% \
    tests/unit/drivers/% tests/unit/kernel/%,$<),-Iarch/include) \
    $(if $(filter tests/unit/host/% tests/unit/embed/%,$<),-Ihost) -Iprofiler \
    $(if $(filter tests/unit/causal/% tests/unit/loop/% \
        tests/unit/profiler/% tests/unit/smp/%,$<),-idirafter host)
define host_compile
$(call begin,HOSTCC)
$(Q)gcc -std=gnu11 -g $(WARNINGS) -Iprofiler/include \
    $(host_room.$(firstword $(subst /, ,$<))) $1 -MMD -MP -c -o $@ $<
endef
$(BUILD)/host/obj/%.o: %.c Makefile | packages $(rooms)/.linked
	$(call host_compile,-O2)
$(BUILD)/host/libdemangle.a: $(patsubst %.c,$(BUILD)/host/obj/%.o,\
    $(wildcard profiler/demangle/*.c))
	$(archive)

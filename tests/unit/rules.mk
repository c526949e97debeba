# SPDX-License-Identifier: Apache-2.0
#
# Unit tests: on the host, under sanitizers, with cmocka built from Debian's
# source package; at both widths, but for those of one_width.txt, which are
# built at 64 bits only. Those of smp/ are built for several CPUs. -Og compiles
# twice as fast as -O1 with these sanitizers, and runs some 10 % slower; gold
# links in half the time that GNU ld takes, for there are hundreds of programs.
# Included by the Makefile.

UNIT := -fno-pie -no-pie -fsanitize=address,undefined -fno-sanitize-recover=all
unit_sources := $(wildcard tests/unit/*_test.c tests/unit/*/*_test.c)
unit_tests64 := $(basename $(notdir $(unit_sources)))
unit_tests32 := $(filter-out \
    $(shell sed '/^#/d' tests/unit/one_width.txt),$(unit_tests64))
promise_parts := promise run_queue chain group sleep mutex locks mailbox
define unit_rules
$(BUILD)/host$1/obj/%.o: %.c Makefile | packages $(SOURCES)/cmocka/.unpacked \
    $(rooms)/.linked
	$$(call host_compile,-m$1 -Og -DPROF_HOSTED $$(UNIT) \
	    -isystem $(SOURCES)/cmocka/include)
$(BUILD)/host$1/libcmocka.a: $(SOURCES)/cmocka/.unpacked | packages
	$$(call begin,CMOCKA)
	$(Q)tools/build/cmocka.sh $$@ $$(<D) gcc -m$1 -g -O1 -fno-pie
$(BUILD)/host$1/obj/walk.o: profiler/sample/$2/walk.asm \
    $(BUILD)/$2/prof_offsets.inc
	$$(call begin,NASM)
	$(Q)nasm -f elf$1 -g -F dwarf -Werror -I$(BUILD)/$2/ -Iprofiler/ -o $$@ $$<
$(BUILD)/host$1/obj/hooks.o: profiler/causal/hooks.asm
	$$(call begin,NASM)
	$(Q)nasm -f elf$1 -g -F dwarf -Werror -DPROF_HOSTED \
	    -o $$@ $$<
$(BUILD)/host$1/libdemangle.a: $(patsubst %.c,$(BUILD)/host$1/obj/%.o,\
    $(wildcard profiler/demangle/*.c))
	$$(archive)
$(BUILD)/host$1/libprof.a: $(patsubst %.c,$(BUILD)/host$1/obj/%.o,\
    $(filter-out profiler/demangle/%,$(filter %.c,\
    $(call profiler_sources,host)))) \
    $(BUILD)/host$1/obj/walk.o $(BUILD)/host$1/obj/hooks.o
	$$(archive)
# the same for several CPUs
$(BUILD)/host$1/smp/%.o: %.c Makefile | packages $(SOURCES)/cmocka/.unpacked \
    $(rooms)/.linked
	$$(call host_compile,-m$1 -Og -DPROF_HOSTED -DPROF_CPUS_MAX=64 $$(UNIT) \
	    -isystem $(SOURCES)/cmocka/include)
$(BUILD)/host$1/smp/walk.o: profiler/sample/$2/walk.asm \
    $(BUILD)/smp/$2/prof_offsets.inc profiler/sample/$2/cpu_here.inc
	$$(call begin,NASM)
	$(Q)nasm -f elf$1 -g -F dwarf -Werror -DPROF_HOSTED \
	    -I$(BUILD)/smp/$2/ -Iprofiler/ -o $$@ $$<
$(BUILD)/host$1/smp/libprof.a: $(patsubst %.c,$(BUILD)/host$1/smp/%.o,\
    $(filter-out profiler/demangle/%,$(filter %.c,\
    $(call profiler_sources,host)))) \
    $(BUILD)/host$1/smp/walk.o $(BUILD)/host$1/obj/hooks.o
	$$(archive)
$(addprefix $(BUILD)/host$1/,$(notdir $(basename \
    $(wildcard tests/unit/smp/*_test.c)))): $(BUILD)/host$1/smp/libprof.a
$(BUILD)/host$1/lookup_test: $(patsubst %,\
    $(BUILD)/host$1/obj/host/embed/%.o,lookup fail)
$(BUILD)/host$1/function_symbols_test: \
    $(BUILD)/host$1/obj/host/symbols/function_symbols.o
$(foreach t,dial guests orders readers,$(eval $(BUILD)/host$1/$(t)_test: \
    $(BUILD)/host$1/obj/host/collect/$(t).o))
$(BUILD)/host$1/boot_info_test: $(BUILD)/host$1/obj/arch/x86/boot_info.o
$(BUILD)/host$1/acpi_test: $(addprefix \
    $(BUILD)/host$1/obj/drivers/,acpi.o aml.o)
$(BUILD)/host$1/virtio_mmio_test: $(BUILD)/host$1/obj/drivers/virtio_mmio.o
$(BUILD)/host$1/timers_test: $(BUILD)/host$1/obj/kernel/timers.o
$(BUILD)/host$1/load_order_test: $(BUILD)/host$1/obj/kernel/load/order.o
$(BUILD)/host$1/peers_test: $(BUILD)/host$1/obj/kernel/net/peers.o
$(BUILD)/host$1/console_model_test: \
    $(BUILD)/host$1/obj/kernel/console_model.o
$(BUILD)/host$1/net_agents_test: $(addprefix \
    $(BUILD)/host$1/obj/kernel/net/,agents.o flow.o probe.o rules.o)
$(BUILD)/host$1/net_probe_test: $(BUILD)/host$1/obj/kernel/net/probe.o
$(BUILD)/host$1/disk_test: $(addprefix \
    $(BUILD)/host$1/obj/kernel/task/,disk.o disk_device.o)
$(BUILD)/host$1/tcp_stream_test: $(addprefix \
    $(BUILD)/host$1/obj/kernel/task/,stream.o)
$(addprefix $(BUILD)/host$1/,promise_test sync_test promise_refusals_test \
    disk_test tcp_stream_test): \
    $(addprefix $(BUILD)/host$1/obj/kernel/task/,$(promise_parts:=.o))
$(BUILD)/host$1/promise_misuse_test: $(addprefix \
    $(BUILD)/host$1/obj/kernel/task/,$(promise_parts:=.o) pool.o)
$(addprefix $(BUILD)/host$1/,sender_test spool_test): \
    $(BUILD)/host$1/obj/host/store/spool.o
$(BUILD)/host$1/sender_test: $(BUILD)/host$1/obj/host/store/send.o
$(addprefix $(BUILD)/host$1/,sender_test spool_test): libraries := -lz
$(BUILD)/host$1/divide_test: $(BUILD)/host$1/obj/arch/x86/i386/divide.o
# The sanitizers' runtime calls it before its own memory is there: with -O1 it
# has everything in registers.
$(BUILD)/host$1/obj/arch/x86/i386/divide.o: UNIT += -O1
$(foreach s,$(unit_sources),$(eval $(BUILD)/host$1/$(notdir $(s:.c=)): \
    $(s:%.c=$(BUILD)/host$1/$(if $(filter tests/unit/smp/%,$(s)),smp,obj)/%.o)))
$(unit_tests64:%=$(BUILD)/host$1/%): \
    $(BUILD)/host$1/obj/tests/unit/unit.o \
    $(addprefix $(BUILD)/host$1/,libprof.a libdemangle.a libdecode.a \
    libcmocka.a)
	$$(call begin,HOSTLD)
	$(Q)gcc -m$1 $$(UNIT) -fuse-ld=gold -o $$@ $$(filter %.o,$$^) \
	    $$(filter %/smp/libprof.a,$$^) $$(filter-out %/smp/libprof.a \
	    $$(if $$(filter %/smp/libprof.a,$$^),$(BUILD)/host$1/libprof.a),\
	    $$(filter %.a,$$^)) $$(libraries) -lm
endef
$(eval $(call unit_rules,32,i386))
$(eval $(call unit_rules,64,x86_64))

test-images: $(foreach b,32 64,$(unit_tests$b:%=$(BUILD)/host$b/%))

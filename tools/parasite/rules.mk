# SPDX-License-Identifier: Apache-2.0
#
# The command parasite, and what the unit tests take of it: the decoder, built
# at both widths. Included by the Makefile.

#: where `make install` puts the command
PREFIX ?= /usr/local

# the guest's demangler is the host's, too
demangler := $(wildcard $(addprefix profiler/src/,demangle*.c cxx*.c rust*.c \
    ocaml.c))
$(BUILD)/host/parasite: $(patsubst %.c,$(BUILD)/host/obj/%.o,\
    $(wildcard tools/parasite/*.c) $(demangler)) \
    $(BUILD)/host/obj/tools/pages/page.o
	$(call begin,HOSTLD)
	$(Q)gcc -o $@ $^ -ldw -lelf -lcapstone -ljansson -lmicrohttpd -lncursesw \
	    -ltinfo -lz -lm
$(BUILD)/host/obj/tools/parasite/annotate_page.o: \
    $(wildcard tools/annotate/page.*)
decoder := answers base64 console crc32c event index interval memory model \
    packet pile top_keys top_rows utf8
$(foreach b,32 64,$(eval $(BUILD)/host$b/libdecode.a: \
    $(decoder:%=$(BUILD)/host$b/obj/tools/parasite/%.o)))
$(BUILD)/host32/libdecode.a $(BUILD)/host64/libdecode.a:
	$(archive)
test bench: $(BUILD)/host/parasite

.PHONY: tool install
#: the command parasite: build/host/parasite
tool: $(BUILD)/host/parasite
$(BUILD)/host/parasite.1: docs/man/parasite.1.scd | packages
	$(call begin,MAN)
	$(Q)scdoc <$< >$@
#: it, its manual page and its completion, installed below PREFIX
install: $(BUILD)/host/parasite $(BUILD)/host/parasite.1
	install -D -t $(DESTDIR)$(PREFIX)/bin $<
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/man/man1 $(word 2,$^)
	install -D -m 644 tools/parasite/completion.bash \
	    $(DESTDIR)$(PREFIX)/share/bash-completion/completions/parasite

#: where `make record` writes to
OUT ?= x.trace
.PHONY: record benchtool
#: record SERVICE to OUT until it ends
record: $(IMAGE) $(BUILD)/host/parasite $(load_needs)
	$(Q)APPEND="prof.reports=$(REPORTS) $(load_words) $(APPEND)" \
	    QEMU_ARGS="$(QEMU_ARGS)" $(load) \
	    sh -c '$(BUILD)/host/parasite record -F $(HZ) -o $(OUT) -- \
	    qemu-system-$(ARCH) -accel $(ACCEL:auto=tcg) -display none \
	    -no-reboot -monitor none -nic none -m $(MEM) \
	    -device isa-debug-exit,iobase=0xf4,iosize=0x04 -kernel $(IMAGE) \
	    -append "$$APPEND" $(addprefix -initrd ,$(script)) $$QEMU_ARGS'
#: what the command takes for ten million samples, beside perf
benchtool: $(BUILD)/x86_64/lua/lua.elf $(BUILD)/host/parasite
	$(Q)bench/host.sh $(BUILD) 10000000

.PHONY: names truth
#: compare every name that is installed here with other demanglers
names: $(BUILD)/host/parasite
	$(Q)FULL=1 tests/names/run.sh $(BUILD)/names
#: profiles held against exact counts: docs/truth.html, the table in truth.md
truth: $(call images,services/split services/lua \
    tests/guest/ticks_are_accounted) $(BUILD)/host/parasite
	$(Q)mkdir -p $(BUILD)/truth
	$(Q)FULL=1 tests/truth/run.sh $(BUILD)/truth | tee $(BUILD)/truth/log
	$(Q)cat $(BUILD)/truth/table
	$(Q)! grep '^not ok' $(BUILD)/truth/log

# SPDX-License-Identifier: Apache-2.0
#
# The command parasite. Included by the Makefile.

#: where `make install` puts the command
PREFIX ?= /usr/local

# the guest's demangler is the host's, too
demangler := $(wildcard $(addprefix profiler/src/,demangle*.c cxx*.c rust*.c \
    ocaml.c))
$(BUILD)/host/parasite: $(patsubst %.c,$(BUILD)/host/obj/%.o,\
    $(wildcard tools/parasite/*.c) $(demangler))
	$(call begin,HOSTLD)
	$(Q)gcc -o $@ $^
test: $(BUILD)/host/parasite

.PHONY: tool install
#: the command parasite: build/host/parasite
tool: $(BUILD)/host/parasite
#: it, installed below PREFIX
install: $(BUILD)/host/parasite
	install -D -t $(DESTDIR)$(PREFIX)/bin $<

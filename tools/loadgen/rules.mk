# SPDX-License-Identifier: Apache-2.0
#
# loadgen, the clients of the IRC server, and that server under their load.
# Included by the Makefile.

#= run
#: how many clients come to SERVICE=irc
SESSIONS ?= 10000
#: how many of them at a time
CLIENTS ?= 8

# what `make run` puts around the boot of that service
ifeq ($(SERVICE),irc)
load_words = prof.every=2000 irc.every=2000 irc.warm=1 \
    $(if $(filter guest,$(LOAD)),$(guest_load_words))
ifneq ($(LOAD),guest)
load_needs := $(BUILD)/host/loadgen
load = SESSIONS=$(SESSIONS) CLIENTS=$(CLIENTS) \
    tools/loadgen/under.sh $(BUILD)/host/loadgen
endif
endif

$(BUILD)/host/loadgen: $(patsubst %.c,$(BUILD)/host/obj/%.o,\
    $(wildcard tools/loadgen/*.c))
	$(call begin,HOSTLD)
	$(Q)gcc -o $@ $^ -lm
test-images bench: $(BUILD)/host/loadgen

.PHONY: story
#= measure
#: the IRC server four ways under one load: what a profile is good for
story: $(call image,$(ARCH),services/irc) $(BUILD)/host/loadgen \
    $(BUILD)/host/parasite
	$(Q)tools/loadgen/story.py $(BUILD) $(ARCH)

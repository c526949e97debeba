# SPDX-License-Identifier: Apache-2.0
#
# bombard, the clients of the IRC server. Included by the Makefile.

$(BUILD)/host/bombard: $(patsubst %.c,$(BUILD)/host/obj/%.o,\
    $(wildcard tools/bombard/*.c))
	$(call begin,HOSTLD)
	$(Q)gcc -o $@ $^ -lm
test bench: $(BUILD)/host/bombard

.PHONY: story
#: the IRC server four ways under one load: what a profile is good for
story: $(call image,$(ARCH),services/irc) $(BUILD)/host/bombard
	$(Q)tools/bombard/story.sh $(BUILD) $(ARCH)

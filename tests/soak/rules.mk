# SPDX-License-Identifier: Apache-2.0
#
# The soak: guests under everything that can happen to them, for long. Included
# by the Makefile.

#= test
#: how long `make soak` takes
MINUTES ?= 30
#: of the actions of `make soak`; the same seed gives the same ones
SEED ?=

TOIL := tests/soak/toil
$(foreach w,$(WIDTHS),$(eval $(call image_rules,$w,$(TOIL))))
soak_images := $(call images,$(TOIL) services/irc)
soak_tools := $(addprefix $(BUILD)/host/,loadgen parasite)
test-images: $(soak_images) $(soak_tools)
objects: $(foreach w,$(WIDTHS),$(call objects,$w,$(TOIL)))

.PHONY: soak
#: both widths in turns, with all that can happen, for MINUTES
soak: $(soak_images) $(soak_tools)
	$(Q)PYTHONPATH=tests python3 tests/soak/soak.py --build $(BUILD) \
	    --minutes $(MINUTES) \
	    $(if $(SEED),--seed $(SEED))

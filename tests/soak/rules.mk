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
$(foreach b,$(BUILDS),$(eval $(call image_rules,$b,$(TOIL))))
# CPUs and messages between them
$(foreach b,$(BUILDS),$(eval $(call image,$b,$(TOIL)): $(BUILD)/$b/libtask.a))
soak_several := $(foreach w,$(WIDTHS),$(call image,smp/$w,$(TOIL)))
soak_images := $(call images,$(TOIL) services/irc) $(soak_several)
soak_tools := $(addprefix $(BUILD)/host/,loadgen parasite)
test-images: $(soak_images) $(soak_tools)
objects: $(foreach b,$(BUILDS),$(call objects,$b,$(TOIL)))

.PHONY: soak
#: both widths in turns, with all that can happen, for MINUTES; with CPUS=4 on
#: so many CPUs
soak: $(soak_images) $(soak_tools)
	$(Q)PYTHONPATH=tests python3 tests/soak/soak.py --build $(BUILD) \
	    --minutes $(MINUTES) $(if $(cpus),--cpus $(CPUS)) \
	    $(if $(SEED),--seed $(SEED))

# SPDX-License-Identifier: Apache-2.0
#
# Prediction beside truth, in long. Included by the Makefile.

#= measure
#: requests that `make causal-truth` measures in each run
CAUSAL_VISITS ?= 4000
causal_truth := $(addprefix tests/guest/causal/,causal_truth causal_net \
    causal_smooth)
causal_cpus := $(foreach w,$(WIDTHS),$(call \
    image,smp/$w,tests/guest/smp/causal_cpus))
causal_units := $(BUILD)/host64/experiments_test

# its clients speak as those in images do
frames := tests/guest/causal/causal_net
define frames_rules
$(call objects,$1,$(frames)): private room += -Ikernel/load
$(call image,$1,$(frames)): $(call object,$1,kernel/load/frame.c)
endef
$(foreach w,$(WIDTHS),$(eval $(call frames_rules,$w)))

# services with slow functions, and clients in the image
slow := tests/causal/services
slow_image = $(BUILD)/$1/test/causal_$2/causal_$2.elf
define slow_image_rules
$(call objects,$1,$(slow) $(slow)/$2): private room += -Ikernel/load
$(call objects,$1,$(slow) $(slow)/$2): | $(call libc,$1)
$(call slow_image,$1,$2): $(call core,$1) $(call objects,$1,services/$2 \
    $(slow) $(slow)/$2) \
    $(addprefix $(BUILD)/$1/lib,load.a http.a net.a lwip.a task.a) \
    kernel/load/ldflags kernel/load/$2/ldflags kernel/profile_server/ldflags \
    $(slow)/ldflags $(slow)/$2/ldflags linker/$1.ld linker/image.ld \
    $(call libc,$1) tools/build/link.sh $(BUILD)/host/embed
	$$(link)
test-images: $(call slow_image,$1,$2)
endef
$(foreach w,$(WIDTHS),$(foreach s,$(loaded),$(eval \
    $(call slow_image_rules,$w,$s))))
slow_images := $(foreach w,$(WIDTHS),$(foreach s,$(loaded),$(call \
    slow_image,$w,$s)))

.PHONY: causal-truth
#: what causal profiling predicts, beside programs that really are faster
causal-truth: $(call images,$(causal_truth)) $(slow_images) $(causal_units) \
    $(causal_cpus)
	$(Q)PYTHONPATH=tests python3 tests/causal/truth.py $(BUILD) \
	    $(CAUSAL_VISITS)

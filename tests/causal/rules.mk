# SPDX-License-Identifier: Apache-2.0
#
# Prediction beside truth, in long. Included by the Makefile.

#= measure
#: requests that `make causal-truth` measures in each run
CAUSAL_VISITS ?= 4000
causal_truth := $(addprefix tests/guest/causal/,causal_truth causal_net \
    causal_smooth)
causal_units := $(BUILD)/host64/experiments_test

.PHONY: causal-truth
#: what causal profiling predicts, beside programs that really are faster
causal-truth: $(call images,$(causal_truth)) $(causal_units)
	$(Q)PYTHONPATH=tests python3 tests/causal/truth.py $(BUILD) \
	    $(CAUSAL_VISITS)

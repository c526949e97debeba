# SPDX-License-Identifier: Apache-2.0
#
# A guest that is not ours. Included by the Makefile.

.PHONY: linux
#= test
#: fetch Debian's kernel, boot it, profile it from outside
linux: $(BUILD)/host/parasite
	$(Q)PYTHONPATH=tests PYTHONDONTWRITEBYTECODE=1 \
	    python3 tests/linux/linux.py $(BUILD) $(OUT)

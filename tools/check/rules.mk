# SPDX-License-Identifier: Apache-2.0
#
# Checks of the sources without running them. Included by the Makefile.

.PHONY: check format
#= test
#: format, lint, layering, documents, exports
check:
	$(Q)tools/check/run.py $(BUILD)
#: format C, C++, Python and JavaScript in place
format:
	$(Q)tools/check/run.py $(BUILD) --format

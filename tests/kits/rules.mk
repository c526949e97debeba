# SPDX-License-Identifier: Apache-2.0
#
# The kits for kernels that are Debian source packages. Included by the
# Makefile.

.PHONY: kits
#= test
#: fetch Debian's U-Boot and coreboot, build them with their kits, boot them
kits: objects lib $(BUILD)/host/parasite
	$(Q)tools/build/packages.sh tests/kits/packages.txt
	$(Q)$(MAKE) --no-print-directory $(SOURCES)/u-boot/.unpacked \
	    $(SOURCES)/coreboot/.unpacked
	$(Q)PYTHONPATH=tests PYTHONDONTWRITEBYTECODE=1 \
	    python3 tests/kits/kits.py $(BUILD) $(SOURCES)

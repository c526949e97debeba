# SPDX-License-Identifier: Apache-2.0
"""The one harness of all tests; tests/README.md says how to write one."""

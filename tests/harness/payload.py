# SPDX-License-Identifier: Apache-2.0
"""The payload of a page: its JSON and its columns (docs/views.md); pages with
one."""

import base64
import gzip
import json
import re


def _numbers(data):
    """The varints in (data)."""
    number = shift = 0
    for byte in data:
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield number
            number = shift = 0


def _signed(numbers):
    return [-(n >> 1) - 1 if n & 1 else n >> 1 for n in numbers]


def page_of(template, head):
    """The text of a page without columns: its (template), and this payload."""
    data = json.dumps(head).encode()
    packed = gzip.compress(len(data).to_bytes(4, "little") + data)
    text = template.read_text(encoding="utf-8")
    return text.replace("@PAYLOAD@", base64.b64encode(packed).decode(), 1)


class Payload:
    """The page (path): .head and .columns, {name: bytes}."""

    def __init__(self, path):
        packed = re.search(
            rb"octet-stream\">([^<]+)<", path.read_bytes(), re.S
        )[1]
        payload = gzip.decompress(base64.b64decode(packed))
        at = 4 + int.from_bytes(payload[:4], "little")
        self.head = json.loads(payload[4:at])
        self.columns = {}
        for name, _, size in self.head.get("columns", []):
            self.columns[name] = payload[at : at + size]
            at += size

    def plain(self, name):
        return list(_numbers(self.columns[name]))

    def signed(self, name):
        return _signed(self.plain(name))

    def changes(self, name):
        """The sums of a column of differences."""
        sums, total = [], 0
        for change in self.signed(name):
            total += change
            sums.append(total)
        return sums

    def strings(self):
        at = 0
        for size in self.plain("string.bytes"):
            yield self.columns["text"][at : at + size].decode()
            at += size

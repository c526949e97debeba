-- SPDX-License-Identifier: Apache-2.0
-- The accounts of each guest.
SELECT service, lower(hex(build)) AS id, toString(guest) AS number,
       toUInt32(min(bucket)) AS first, toUInt32(max(bucket)) AS last,
       uniqExact(bucket) AS buckets, uniqExact(cpu) AS cpus, sum(ticks) AS due,
       sum(attributed), sum(idle), sum(masked), sum(unresolved), sum(dropped),
       sum(missed), sum(stolen_ns)
FROM accounts WHERE @where@
GROUP BY service, build, guest ORDER BY service, id, guest

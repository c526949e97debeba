-- SPDX-License-Identifier: Apache-2.0
-- The accounts of each service, minute and build.
SELECT service, toUInt32(bucket) AS at, lower(hex(build)) AS id,
       uniqExact(guest), sum(ticks), sum(attributed), sum(idle), sum(masked),
       sum(unresolved), sum(dropped), sum(missed), sum(stolen_ns)
FROM accounts WHERE @where@
GROUP BY service, bucket, build ORDER BY service, at, id

-- SPDX-License-Identifier: Apache-2.0
-- The stacks of each guest and minute, root first, one name a line;
-- nanoseconds and samples.
SELECT service, toString(guest) AS number, toUInt32(bucket) AS at,
       lower(hex(build)) AS id, arrayStringConcat(path, '\n') AS folded,
       sum(n), sum(w) * 100
FROM @paths service,guest,bucket,build@
GROUP BY service, guest, bucket, build, folded
ORDER BY service, at, guest, id, folded

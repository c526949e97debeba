-- SPDX-License-Identifier: Apache-2.0
-- Not a query but a part of others, @mix_shares@ in them: the share of each
-- stack, by its names, in each guest, one, of which so many samples were taken.
(
  SELECT guest AS one, each AS mix, own / whole AS p, taken
  FROM (
    SELECT guest, groupArray(mix) AS mixes, groupArray(w) AS owns,
           sum(w) AS whole, sum(n) AS taken
    FROM @mixed guest@
    GROUP BY guest HAVING whole > 0
  )
  ARRAY JOIN mixes AS each, owns AS own
)

# What `print(counts)` and `leafcover counts` show.

counted = { $cells ->
    [one] { $cells } count
   *[other] { $cells } counts
} released; { $tables ->
    [one] one table is
   *[other] { $tables } tables are
} perturbed. { $of ->
    [weighted] Counts are weighted by { $column }.
    [units] What is counted are the people or households of { $column }, each once in a cell.
   *[rows] What is counted are rows.
}
noise = The noise of a count has mean 0, variance { $variance } (less for counts of 1 and 2) and is at most { $most }. No count is negative{ $minimum ->
    [1] .
   *[other] {""}, and none but 0 is below { $minimum }.
}
zeros = { $kept ->
    [yes] Zeros stay zero.
   *[no] A zero is perturbed as if it were a one with probability { $chance }, and adds { $chance } to a sum on average.
}
impossible = Zeros of impossible levels stay zero ({ $count ->
    [one] one combination
   *[other] { $count } combinations
} declared).
totals = { $how ->
    [own] Totals are perturbed on their own: they differ from the sums of cells by up to { $gap }.
    [sum] Totals are sums of perturbed cells: their noise adds up.
   *[none] There are no totals.
}
here = Differencing, this release: an attacker who knows everybody else recovers { $certain } of { $tries } people in the smallest groups with certainty.
knowing = Differencing, { $tries } tries with { $keys } other keys: { $certain } recovered with certainty. The guess at { $column } is right for { $correct } ({ $low } to { $high }), without the tables for { $guessing }.
two-tables = Differencing of the tables with and without a person, by an attacker who knows nobody else, { $tries } tries with { $keys } other keys: { $certain } recovered with certainty. The guess is right for { $correct } ({ $low } to { $high }), without the tables for { $guessing }.
tables = { $tables ->
    [one] One perturbed table has { $column }
   *[other] { $tables } perturbed tables have { $column }
}. An attacker who knows everybody else and hesitates between two equally likely values decides right with { $decides } for large counts. Every further table of these people adds to that.
averaging = Averaging: { $sums } figures for the same count reduce its mean error from { $error } to { $after }; { $exact } of the counts are right as released, { $averaged } after averaging.
seeded = Made with a seed: do not publish.
exact = Counts are exact: everybody who differs between two tables is recovered. Set a maximum noise.
certain = Noise at its limit of { $most } proves a count with a probability of up to { $chance } for each cell. Choose a larger limit or a smaller variance.
zeros-kept = Zeros stay zero, so every positive count proves that somebody is in the cell, and an attacker who knows that a person is the only one of a group reads their other levels from the table.
summed = Cell keys are sums of record keys: cells of the same people have the same noise. Where two cells differ by one person at most, different counts prove that they do.
heavy = A person has { $times } times the mean weight of a cell: the noise, which is multiplied by the mean weight, does not hide them. Trim such weights, or use classes.

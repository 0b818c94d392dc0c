# How the release was made.

heading = How it was made
limits = Audience and thresholds
warnings = Warnings
plan = Plan
plan-file = The plan file
rare-levels = levels of fewer than five people
steps = Every step reads the original table and changes values only within cells.
steps-with-blocks = Every step reads the original table and changes values only within cells. Columns joined by + form a
    block: their values move together, so each block of a released row is a true combination of one person.
step-table = Steps
step-table-columns = Columns
step-table-each-value-is = Each value is
step-table-within = Within
step-table-cells = Cells
step-table-smallest = Smallest
step-table-median = Median
within-kept = { $within }; inside { $kept }
and = {" "}and{" "}
to = {" "}to{" "}
cells-in-words = Every step read the original table and changed values only within cells. The smallest cell has { $smallest ->
    [1] 1 row
   *[other] { $smallest } rows
  }, a typical cell { $median }.
dealt = Every column was dealt separately: first those with few distinct values{ $has_target ->
    [yes] , last the target, { $target }
   *[no] {""}
  }. The first was permuted over the whole table. For each later one, trees were grown on the original from the columns before
    it, and the values of the original rows of a leaf were dealt at random to the released rows that reach the same leaf. What
    one side had too many of was dealt one level up.
units = Several rows belong to one { $unit }. The rows of each became one row of a table of { $count } units, at most
    { $most } rows of each, and that table was dealt: a name such as “{ $example }” is a column in the second row of a unit.
    Disclosure risks count units, and the attacker knows all rows of a unit; utility compares rows.
dealt-shared = Every number is held by at least { $rows } released rows: rarer neighbouring numbers were first replaced by their
    mean or by a more frequent neighbour.
dealt-price = A split of a tree was made only if it gained more than its price: a multiple of the bits it takes to choose the
    split, and of what fitting both sides gains by chance.
dealt-table = Columns in the order of dealing
dealt-table-columns = Column
dealt-table-tests = Its trees test
dealt-table-leaves = Leaves
dealt-table-smallest = Smallest leaf
dealt-table-price = Price
dealt-table-note = Numbers, and categories with many values, were dealt in stages: first one of a few groups, then a part of the
    group, each with trees of its own.{ $blocks ->
    [yes] {" "}Columns joined by + determine each other and were dealt together.
   *[no] {""}
  }
rule-table = Rules between columns
rule-table-rule = Rule
rule-table-origin = Origin
rule-table-way = Kept by
rule-table-before = Original rows
rule-table-after = Released rows
rule-table-note = The share of the rows that a rule applies to which keep it. A declared rule is kept by all released rows, or nothing is
    written.
rule-origin = { $found ->
    [yes] found in the table
   *[no] declared
  }
rule-way = { $way ->
    [computed] computing a column from the others
    [difference] adding differences
    [exchanged] exchanges between rows
   *[checked] nothing: it was only counted
  }
rule-broken = { $rows ->
    [one] { $rows } row breaks it
   *[other] { $rows } rows break it
  }
recode-table = What was recoded first, in this order
recode-table-columns = Columns
recode-table-values = Each value is
recoded = First { $ways }.
recoded-only = Each row keeps its own.
promise-table = What holds of each column
promise-table-columns = Columns
promise-table-promise = Promise
promise = { $word ->
    [recoded] Values became coarser, or rare levels were pooled.
    [suppressed] Some values are missing.
    [shared] Rare numbers were replaced by the mean of neighbours or by a neighbour, so that several rows hold each.
    [permuted] Rows exchanged values: the column holds the same values as before, apart from what was replaced first.
    [averaged] Each value is the average of a group.
    [noise] Each value got noise.
    [drawn] Values were drawn from the distribution in a cell.
    [transformed] One function with secret parameters changed the values of all rows; it can be inverted.
    [recomputed] Values were computed from other columns or from differences: they may be new.
    [renumbered] Numbers are new.
   *[unchanged] Each row has its own value.
  }
dealt-column = { $number }. { $columns }
dealt-whole = permuted over the whole table
dealt-inner = and { $leaves } within its groups
proved = What is proved
proved-assumptions = Assumptions and limits. { $assumptions }
no-values = Without any value, so there was nothing to change: { $columns }.
column-way = { $columns }: each value is { $way }.
tree-table = Trees that shaped the cells
tree-table-target = Tree for
tree-table-leaves = Leaves
tree-table-kept = Rows in the same leaf as before

# One column.

unchanged = Released unchanged.
column-dealt = { $whole ->
    [yes] Permuted over the whole table
   *[no] { $tests ->
        [none] Dealt over the whole table: no split paid its price
       *[other] Dealt in { $leaves ->
            [one] 1 leaf
           *[other] { $leaves } leaves
        } of trees that test { $tests }
    }
  }{ $together ->
    [yes] , together with { $partners }
   *[no] {""}
  }.
column-of-rows = { $places ->
    [1] Dealt as { $first }
   *[other] Dealt once for each row of a unit, as { $first } to { $last }
  }{ $rising ->
    [yes] : a first value, then increases.
   *[no] .
  }
column-no-values = The column has no values.
together-with = { $what }, together with { $partners }
placed = { $what }; within { $within }.

# Why a value could not change.

fixed-constant = every row has the same value
fixed-unchanged = the column was released unchanged
fixed-common = most rows of the table have the same value
fixed-by-tree = the tree for { $target } splits on it

# What the release does not protect.

columns-unchanged = Columns released unchanged
columns-unchanged-text = { $columns }: every value is the original.
reversible = Reversible columns, which are not private
reversible-text = { $columns }: one function changed the values of all rows. An attacker who knows a few rows finds it and
    computes all others.
homogeneous = Groups with one value of { $column }
homogeneous-text = In the release { $people } rows ({ $share }) are in a group of two or more that are equal in { $known } and have a
    single value of { $column }; { $alone } more are alone in their group.{ $original ->
        [yes] {" "}In the original these are { $before } and { $before_alone } people.
       *[no] {""}
    } Finding the group discloses the released value, which need not be the person’s own; attribute inference counts how often
    it is.
all-but-one = Differencing
all-but-one-text = This is not differential privacy. Counts are exact, so an attacker who knows all rows but one can subtract
    them and reconstruct the last row.
all-but-one-dealt = This is not differential privacy. Counts of categories are exact, so an attacker who knows all rows but one
    can subtract them and reconstruct the last row, its numbers roughly.
all-but-one-measured = The section “Attackers who know the method” shows what knowing 50% to 99% of the rows brings.
row-order = Row order
row-order-text = Rows are in their original order, so the n-th row is still the n-th person.
seed = The randomness
seed-text = The release was made with a seed. Anyone who guesses the seed can undo it: it protects nobody.
fixed-values = Fixed values
fixed-values-text = Where nearly every row of a cell has the same value, the cell discloses it. Most affected: { $columns }.
fixed-values-column = { $column } ({ $share } of the rows)
singletons = Singleton cells
singletons-text = { $share } of the rows are the only one in their cell, so the release discloses what their leaf says about
    them.
some = Some
pooled = Pooled rows
pooled-text = { $share } of the rows were in leaves, or intersections of leaves, with too few rows, and were pooled with others.
    They may have changed their leaf.
missing = Missing values
missing-text = They stay with their row in { $columns }. An attacker who knows which answers a person left out can use that.
missing-most-text = Most of them stay with their row in { $columns }.
exact-counts = Rare and extreme values
exact-counts-text = The values of { $columns } only changed places, so every count is exact: a value that one person had is
    still in the table once.
exact-counts-dealt = The values of { $columns } only changed places, so every count is exact: a value that one person had is
    still in the table once, though not in that person’s row.
exact-shared-counts = Counts
exact-shared-counts-text = The values of { $columns } only changed places, so every count of a released value is exact (after
    rare levels were pooled and rare numbers shared, and of the rows that were released). No value has fewer than
    { $fewest } rows.
every-column = every column
every-category = every category
free-noise = Extreme values
free-noise-text = Random noise was added to, or multiplied with, each value of { $columns }: a row stays near its original
    place, and an extreme value stays extreme.
domain = The range of values
domain-text = { $columns } still use only values between the original minimum and maximum, and only categories that
    occurred.
changed-columns = Columns that were moved or resampled
stayed = Unchanged values
stayed-not-measured = How many values stayed the same { $reason }.
stayed-no-pairs = It is unknown which released row belongs to whom, so unchanged values cannot be counted.
stayed-text = { $values } of a row’s values are still its own; { $whole } of the rows did not change at all.
reconstruction = People whose released row is known
reconstruction-text = An attacker who knows which row belongs to a person reconstructs { $column } best, compared with
    guessing: correctly in { $success } of cases. The most frequent value would be correct in { $baseline }.
linkage = Record linkage
linkage-not-measured = How often a person can be re-identified { $reason }, so nothing here says that it is rare.
tail-risk = The most exposed people
tail-risk-text = Of the 1% of people who are easiest to re-identify, an attacker who knows the method and everything but the
    key finds { $tail }; of all people { $risk }.

# Values that could not change, and values that did not.

fixed-heading = Fixed values
fixed-none = Nearly every value could change.
fixed-averages = A value could not change when it is the average of its group. The release does not show which row of the
    group had it before, unless all of them did.
fixed-definition = A value is fixed when its row would get it back with a probability of at least { $probability }: its cell
    holds hardly anything else. An attacker who knows a person’s cell knows that value.
fixed-table = Columns with fixed values
fixed-table-column = Column
fixed-table-fixed = Fixed
fixed-table-changed = Changed
fixed-table-because = Because
fixed-table-note = Columns that are not listed could change in nearly every row.
stayed-fold = Unchanged values, column by column
stayed-rows = { $values } of a row’s values are unchanged; { $whole } of the rows did not change at all.
stayed-singletons = { $share } of the rows are the only one in a cell.
stayed-pure = The cell alone discloses the { $target } of { $share } of the rows.
stayed-table = Unchanged values
stayed-table-column = Column
stayed-table-unchanged = Unchanged
stayed-table-chance = Expected by chance
stayed-table-fixed = Fixed
stayed-table-range = Range left open
stayed-table-missing = Missing values that stayed
stayed-table-note = Expected by chance: if the column had been permuted at random. Range left open: an attacker who knows a
    person’s cell knows a range that holds the value; this is its mean width, as a share of the column’s range. 0% means
    that the value is known.
none-missing = none missing

# What averages of small groups disclose.
averages-fold = What averages disclose, column by column
averages-table = What averages disclose
averages-table-column = Column
averages-table-equal = Rows in groups of one value
averages-table-dominated = Rows in dominated groups
averages-table-fewest = Fewest values in an average
averages-table-note = In a group of one value, the average is everyone’s own value. One row dominates a group when it
    contributes more than half of the sum of absolute values: the average then roughly discloses its value. Fewest values in
    an average: rows without a value do not count; groups with too few values were averaged together.
averages-groups = { $columns }: { $groups ->
    [one] 1 group
   *[other] { $groups } groups
  } of at least { $smallest } rows, { $median } in the median; { $share } of the rows are in a group of the smallest size.
averages = Averages of few people
averages-collusion = The other members of a group can pool their values and recover the last one’s { $exact ->
    [yes] exactly
   *[no] exactly or nearly so, since some averages are medians
  }; in the smallest groups that takes { $others } people.
averages-missing = Missing stays missing: { $share } of the rows differ from others of their group in what they miss, so
    their anonymity set is smaller than the group.
averages-equal = { $share } of the rows are in a group with one value of { $column }: the average is theirs.
averages-dominated = { $share } are in a group in which one row makes up most of the average of { $column }.

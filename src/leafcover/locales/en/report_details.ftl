# The detail sections of the release report: trees, models, columns, relations between columns, disclosure risk.
# Figures come in as text, already formatted by the disclosure rules of the report; counts come in as numbers.

## Words shared by several tables

head-column = Column
head-columns = Columns
head-measure = Measure
head-how-to-read = How to read it
head-original = Original
head-release = Release
head-floor = Floor
head-chance = By chance
head-most-exposed = Most exposed 1%
head-rows = Rows
picture-original = Original
picture-release = Release
pair-of-columns = { $first } and { $second }
coverage-by-pairs = Based on { $coverage }; { $pairs } of { $of ->
    [one] { $of } pair
   *[other] { $of } pairs
} of columns.

## Attackers who know the method

informed-title = Attackers who know the method
informed-what = { $dealt ->
    [yes] trees
   *[no] trees or cells
}
informed-no-control =
    There is no control: no rows outside the release are known, so what an attacker who knows the method infers about people
    in the release cannot be compared with others.
informed-lead =
    The attacker knows all other columns of a person, the recipe and its settings, and reads the missing column from counts of
    the release. Granted: the attacker is also given the true { $what }. Regrown: the attacker has only the release and grows
    { $what } from it. Beside each figure is the same one for people outside the release; only the difference comes from a
    person’s own record.
informed-inference-heading = Attribute inference of every column
informed-repeated =
    Nobody was held out, so the release was repeated without some of the rows, with fixed keys: these figures are of the method on this
    table, and another release of it by the same plan shows the same ones.
informed-not-granted =
    The method has no trees or cells to grant, so the attacker grows a chain of trees from the release.
informed-table = { $how ->
    [granted] Attribute inference, { $what } granted
   *[regrown] Attribute inference, { $what } regrown from the release
}
informed-regrown-fold = The same with { $what } regrown from the release
informed-scale = From 0 to { $high } points
informed-head-above = Above control, points
informed-head-regrown = Regrown: above control
informed-note =
    In small type: the 95% interval. Dot and line: above control with its interval; upright mark: the limit,
    { $limit } points. The upper end counts, and the columns with the highest one come first. A number is inferred correctly if it is off by at most 5% of the range of the
    middle 90% of values.
informed-some-columns =
    { $tried } of { $columns } columns were attacked; the others are determined by one of these, or nobody outside the release
    has a value.
informed-membership-heading = Membership: who is in the release
informed-membership-table = Membership inference
informed-head-attacker = Attacker
informed-head-area = Area under the ROC curve
informed-head-found = Found at 1% false alarms
informed-head-found-rarely = Found at 0.1% false alarms
informed-attacker = { $how ->
    [granted] Knows the method; { $what } granted
    [regrown] Knows the method; { $what } regrown
    [presence] Shares of values, in the release and in a sample of the population
    [trained] The same, trained on some members and others
   *[distance] Distance to the nearest released row
}
informed-membership-note =
    An attacker who knows the method compares leaves of the release also with a sample of the population.
    Area: of one person in the release and one outside it, how often the attacker picks the right one; 50% is chance. Found:
    people in the release who are recognised when the attacker also takes 1% (0.1%) of others for members; by chance as many
    would be found. With fewer than 1,000 people outside the release, the last column rests on the one of them who looks most
    like a member.
informed-background-heading = Background knowledge
informed-background-lead =
    The same attacker, with the true { $what }, also knows some of the other rows and subtracts them from every count.
informed-background-table = Background knowledge
informed-head-known = Other rows known
informed-head-largest = Largest inference above control, points
informed-known = { $none ->
    [yes] no other row
   *[no] { $share } of the rows
}
informed-largest = { $column }; { $interval }
informed-background-note =
    Only people who are not known are attacked, so the intervals are wide where most rows are known. As the largest of several
    columns each figure is more likely too high than too low. These attackers are not compared with a limit.

## Copies

copies-heading = Copies of records and values
copies-lead = { $findings ->
    [0] No comparison of people in the release with others, or of counts with chance, is significant ({ $tests } comparisons).
    [one] One of { $tests } comparisons of people in the release with others, or of counts with chance, is significant, so chance
        does not explain it:
   *[other] { $findings } of { $tests } comparisons of people in the release with others, or of counts with chance, are
        significant, so chance does not explain them:
}
copies-record = A record consists of { $record }: { $outside ->
    [one] the near-unique column { $names } is
   *[other] { $outside } near-unique columns ({ $names }) are
} left out. { $columns ->
    [one] Nearly everybody shares so short a record with others.
   *[other] {""}
}
copies-record-none =
    Every column is near-unique, so no records are looked for: only single values, and how often rare ones occur.
copies-no-control =
    There is no control: it is unknown how often records of people outside the release would occur in it.
copies-near = An estimated { $people } people in the release or more ({ $low } to { $high }) have a near-copy that chance does not explain.
copies-table = Records and values that occur in the release
copies-head = What occurs
copies-head-p = p, corrected
copies-p-tiny = under 0.001
copies-worst-block = the worst block of at least 80% of the columns
copies-note =
    A record leaves out near-unique columns and the weight. A near-unique value counts if fewer than five released rows hold
    it. A rare record is one that fewer than five people have; in place of people outside the release, the highest share of
    them that independent draws can reproduce exactly is shown. A rare value counts with a second column as far as released
    rows that hold it and people who do agree there; the share by chance is shown beside it. A near-copy agrees with one person in at least { $least } of the information of
    the record, numbers within at most { $tolerance }, and much better than a tenth row does. Significant: an exact test gives a probability under { $p }
    after correction for the number of comparisons.

## Disclosure risk: record linkage

risks-title = Further attacks and measures of disclosure risk
risks-not-measured = { $reason ->
    [few-rows] The release has too few rows to publish a figure of disclosure risk. Do not assume that the risk is low.
   *[not-measured] Disclosure risk was not measured for this report. Do not assume that the risk is low.
}
risks-lead =
    Each risk is the share of attempts that succeed, with its 95% confidence interval. A mean can hide a few highly
    exposed people. Where each person’s probability of success is known whatever the key, the mean over the 1% of people
    with the highest is shown as well. Under one key an attempt either succeeds or fails, and under another it succeeds on
    other people, so there is no such figure.

linkage-heading = Record linkage: re-identifying a person’s row
linkage-not-scored = Record linkage could not be scored: it is not known which released row belongs to which person.
linkage-dealt =
    Record linkage does not apply: every column was dealt separately, so no released row belongs to one person. That is no
    evidence of protection.
linkage-top-ten = The right row is among the ten best candidates of the strongest attacker in { $found } of cases.
linkage-top-ten-internal =
    The right row is among the ten best candidates of the strongest attacker in { $found } of cases; its median rank is
    { $rank } of { $rows }. The smallest anonymity set, the rows that could belong to one person, has { $smallest ->
        [one] { $smallest } row
       *[other] { $smallest } rows
    }.
linkage-table = Record linkage
linkage-head-attacker = Attacker
linkage-head-correct = Correct links
linkage-head-attempts = Attempts
linkage-attacker-maximum-knowledge = Maximum knowledge: knows the method and everything but the secret key
linkage-attacker-probabilistic =
    Probabilistic (Fellegi–Sunter): knows the rows of half of the people and has learned from them how values change
linkage-attacker-nearest = Distance-based: the row is the nearest
linkage-attacker-two-nearest = Distance-based: the row is one of the two nearest
linkage-attacker-assignment = Optimal assignment: matches a sample of people to their rows, one to one
linkage-note =
    A random guess is right once in { $rows } attempts. Optimal assignment runs on a sample, which holds fewer rows to
    confuse a person with, so its figure is too high for a larger table.
strip-label = { $value }, interval { $interval }

anonymity-sets-table = Record linkage by size of the anonymity set
anonymity-sets-head-size = Size of the set
anonymity-sets-head-people = People attacked
anonymity-sets-note =
    A person’s anonymity set is every released row that could be theirs; the attacker can rule out all others with
    certainty.
anonymity-set-size = { $kind ->
    [single] { $fewest }
    [open] { $fewest } or more
   *[range] { $fewest } to { $most }
}

## Disclosure risk: attacks with a control

attacks-heading = What an attacker learns about a person
attacks-lead =
    Each attack is tried on people in the release and, as a control, on people outside it. Success on the control comes
    from patterns that hold for everybody; only the difference is due to a person’s own record. If the interval of the
    difference contains 0, no such effect is shown. The baseline is a guess that uses no individual record.
attacks-control = Control: { $control }.
attacks-control-repeated = Control: { $control }. The attacks use the first of these releases and the rows left out of it.
attacks-no-control =
    There is no control: no rows outside the release are known, so patterns cannot be separated from what a person’s own
    record discloses.
attacks-too-few = No attack was tried on more than { $few } people, so no result is shown.
attacks-table = Attacks
attacks-head-attack = Attack
attacks-head-members = In the release
attacks-head-control = Outside it (control)
attacks-head-baseline = Without it (baseline)
attacks-head-difference = Difference, points
attacks-note =
    In small type: the 95% interval. The difference is success in the release minus success on the control, in percentage points. The baseline is, for
    attribute inference, the one value that is right most often, given for everybody; for singling out, an equally
    narrow predicate of random values; for linkability, two random released rows; for membership inference, as many
    people called members, but at random; for attribution, the value of a random row.
attacks-cell-no-control = no control

attack-inference = Attribute inference of { $column }
attack-inference-how = { $method ->
    [model] from a model trained on the release
    [reliable] from the nearest released row, by the least perturbed columns
   *[nearest] from the nearest released row
}
attack-inference-how-strongest = { $how }; the largest { $measure ->
    [difference] difference from the control
   *[gain] gain over the baseline
} among the { $tried ->
    [one] { $tried } column
   *[other] { $tried } columns
} tried, of { $columns }
attack-inference-no-control = no row of the control has a value here
attack-singling-out-one = Singling out by one column
attack-singling-out-one-how = a predicate that matches one released row also matches exactly one person
attack-singling-out-several = Singling out by two to four columns
attack-singling-out-several-how = the same with a longer predicate
attack-singling-out-no-control = fewer than { $needed } rows, or a fifth of the original’s, are known that were not released
attack-linkability = Linkability of two sets of columns
attack-linkability-how = { $other ->
    [one] { $one } and { $other } column
   *[other] { $one } and { $other } columns
} of the same people, joined through the release
attack-membership = Membership inference
attack-membership-how =
    called a member because a released row is near; baseline: as many people called members, but at random
attack-attribution = Attribution of { $target }
attack-attribution-how = from the released rows with the same { $columns }
attack-attribution-how-any-row = from any released row
membership-area =
    Membership inference as a whole: of two people, one in the release and one outside it, picking the one nearer to a
    released row is right in { $area } of cases (area under the ROC curve; 50% is chance).

## Disclosure risk: column by column

inference-fold = Attribute inference, column by column
inference-nearest-table = From the nearest released row
inference-nearest-note =
    { $columns ->
        [one] { $tried } of { $columns } column was
       *[other] { $tried } of { $columns } columns were
    } tried. The attacker knows all other columns. A number counts as right if it is off by at most 5% of the range of
    the middle 90% of values. Baseline: the one value that is right most often.
inference-reliable-table = From the nearest released row, by the least perturbed columns
inference-reliable-note =
    An attacker who knows the perturbation compares only the columns that identify people best.
inference-model-table = From a model trained on the release

reconstruction-fold = Reconstruction, column by column
reconstruction-lead =
    How well a person’s original value can be inferred from their whole released row, by an attacker who has seen both
    tables for half of the people. There is no control: nobody else has a row in the release.
reconstruction-table = Reconstruction
reconstruction-head-best = From the released row
reconstruction-head-baseline = Baseline
reconstruction-head-as-released = Released value itself
reconstruction-note =
    From the released row: the best of a model, a table of the most frequent original value behind each released value,
    and the released value itself. Baseline: the one value that is right most often. { $of ->
        [one] { $rows } of { $of } person
       *[other] { $rows } of { $of } people
    }, half of them to learn from.

intervals-fold = Interval disclosure
intervals-lead =
    Every number of a record lies close to its released value in { $rank } of the records when closeness is measured by
    rank, and in { $deviation } when it means within { $deviations } standard deviations.
intervals-table = Interval disclosure
intervals-head-rank = By rank
intervals-head-rank-chance = By rank, chance
intervals-head-deviation = By deviation
intervals-head-deviation-chance = By deviation, chance
intervals-note =
    By rank: the mean over windows of 1% to 10% of the rows. Chance: the released values assigned to rows at random.
    Based on { $coverage }.

## Disclosure risk: standard measures

standards-fold = Standard measures: k-anonymity, l-diversity, t-closeness, special uniques, individual risk
standards-quasi-identifiers =
    An equivalence class is the rows with the same values in all quasi-identifiers: { $columns }.
standards-no-quasi-identifiers = The table has no quasi-identifier.
standards-classes-table = Equivalence classes
standards-head-release = { $guarantee ->
    [none] Release (no guarantee)
   *[unknown] Release
}
standards-classes-note =
    The classes of a perturbed release give no guarantee: the quasi-identifiers of a released row are not the person’s
    own. A row in a large class may still be linked through its nearest values, and a singleton may resemble somebody
    else. Only the attacks above measure the risk.
standards-missing-values = { $rule ->
    [own] a missing value is a value of its own
    [matches] a missing value matches any value
   *[drop] rows with a missing quasi-identifier are left out
}
standards-k = k-anonymity: rows in the smallest class
standards-unique = Singletons: rows in a class of their own
standards-l = l-diversity: fewest distinct values in a class
standards-l-entropy = { $entropy } by entropy
standards-t = t-closeness: largest distance between a class and the table
standards-t-spread = mean { $mean }; most exposed 1%: { $worst }

individual-table = Individual risk
individual-head-value = Value
individual-mean = Individual risk, mean
individual-mean-how = { $model ->
    [weights] re-identification risk by class, with survey weights
   *[prosecutor] prosecutor model: one divided by the size of the class
}
individual-expected = Expected re-identifications
individual-expected-how = of { $rows } rows, if an attacker looked up everybody
individual-high = People with a risk above 20%
individual-high-how = fewer than five people to be confused with
special-uniques = Special uniques (SUDA)
special-uniques-how = unique on a few columns already
special-uniques-how-columns = unique on a few columns already, mostly { $columns }
special-uniques-score = Special uniques score
special-uniques-score-how = ranks the rows of one table; { $coverage }
most-exposed = most exposed 1%: { $figure }
sers = SERS: original rows at least as near as a row’s own
sers-how = 0% is worst; our definition; { $coverage }
candidates = Original rows that a released row may come from
candidates-spread = 5th percentile { $fifth }; most exposed 1%: { $worst }
candidates-how = median, from the entropy of a posterior distribution; { $coverage }
individual-note = The first five describe the original table alone.

distances-fold = Distance to the closest record
distances-table = Distances between released and original rows
distances-head-released = Released rows
distances-head-control = Control rows
distances-closest = DCR: distance to the closest original row, 5th percentile
distances-ratio = NNDR: nearest-neighbour distance ratio, 5th percentile
distances-copies = Rows identical to an original row
distances-median = median { $median }
distances-note =
    A small distance is not a risk by itself; a distance much smaller than that of the control is. Based on { $coverage }.
distances-closer =
    Released rows are nearer to the original rows than to as many control rows in { $share } of cases; 50% is ideal.

## Trees

trees-title = Decision trees
trees-title-for = Decision trees for { $target }
trees-closed = The trees are not shown, because the thresholds of a tree are values of the original table.
trees-guide-fold = { $kind ->
    [forest] The forest that guided the release
   *[tree] The tree that guided the release
}
trees-guide-lead = { $place ->
    [after-others] This tree is not one of the two above. Its leaves shaped the cells of the release.
   *[alone] The leaves of this tree shaped the cells of the release.
}
trees-guide-kept = Its rules hold for { $kept } of the rows: these are still in the same leaf.
trees-guide-legend =
    Each line is a test or a predicted class; the bar shows the distribution of { $target } among the rows that reach it.
trees-no-guide = No tree for a target guided this release.
trees-dealt =
    Each column was dealt in the leaves of a tree of its own, grown from the columns dealt before it; “How it was made” lists
    them.
trees-kd-lead = The leaves of this tree are the cells in which values were averaged: each holds rows that are close to each other.

trees-compared = To measure utility, one decision tree for { $target } was trained on the original and one on the release.
trees-compared-not-the-guide = { $kind ->
    [forest] Neither belongs to the forest that guided the release.
   *[tree] Neither is the tree that guided the release.
}
trees-grade = { $grade ->
    [exactly-same] The two trees are identical.
    [very-similar] The rules of the two trees are very similar.
    [similar] The rules of the two trees are similar.
   *[dissimilar] The rules of the two trees are dissimilar: they test other columns or cut elsewhere. Rules of declared relations
        between columns are another matter, and trees of different rules can give the same answers.
}
trees-agreement =
    A rule that both trees have (thresholds may move by 5% of a column’s range) covers { $rules } of the rows. The trees
    predict the same class for { $answers } of the rows. A constant answer, the class that the original’s tree predicts
    most often, would agree with that tree on { $guess }. This is agreement between trees, not accuracy.
trees-pruned = { $smaller ->
    [original] They count as similar although fewer rows keep their rule: the original’s tree is a pruned form of the release’s. It makes the same tests, but some of its branches end earlier.
   *[released] They count as similar although fewer rows keep their rule: the release’s tree is a pruned form of the original’s. It makes the same tests, but some of its branches end earlier.
}
trees-table = Similarity of the two trees
trees-head-comparison = For comparison
trees-rules-exact = Rows with a preserved rule, equal thresholds
trees-rules-near = Rows with a preserved rule, similar thresholds
trees-identical = 100% if identical
trees-partition = Grouping of the rows into leaves
trees-partition-how = adjusted Rand index: 1 if identical, 0 by chance
trees-answers = Rows with the same predicted class
trees-answers-how = { $guess } by a constant answer
trees-leaves = Leaves
trees-misclassified = Rows misclassified
trees-columns-tested = Columns tested
trees-before = { $count } in the original’s tree
trees-before-and-both = { $count } in the original’s tree, { $both } in both
trees-note =
    The grade depends on the rows with a preserved rule, similar thresholds: very similar from { $very }%, similar from
    { $similar }%, or if one tree is a pruned form of the other. Small changes of the data often change a tree, so a low
    grade alone says little.
trees-note-basis = { $basis }.
trees-legend =
    Each line is a test or a predicted class; the bar shows the distribution of classes among the rows that reach it.
    Lines that the other tree lacks are marked.
rare-value = a rare value

rules-fold = Rule by rule
rules-fold-counts = Rule by rule: { $counts }
rules-count = { $kind ->
    [kept] { $count } preserved
    [cut-moved] { $count } with a moved threshold
    [class-changed] { $count } with another class
    [lost] { $count } lost
   *[new] { $count } new
}
rules-table = Rules of both trees
rules-head-outcome = Outcome
rules-head-rule = Rule
rules-outcome = { $kind ->
    [kept] Preserved
    [cut-moved] Threshold moved
    [class-changed] Class changed
    [lost] Lost
   *[new] New
}
rules-in-release = in the release: { $changes }
rules-threshold-above = { $column } above { $value }
rules-threshold-at-most = { $column } at most { $value }
rules-not-listed = { $count ->
    [one] { $count } more rule, which covers fewer rows, is not listed.
   *[other] { $count } more rules, which cover fewer rows each, are not listed.
}
rules-not-published = Rules that cover few rows and rules that name a rare value are not listed.

## The forest that guided the release

forest-lead = { $trees ->
    [one] { $trees } tree for { $target } shaped the cells: rows share a cell if they share a leaf.
   *[other] { $trees } trees for { $target } shaped the cells: rows share a cell if they share a leaf in every tree.
}
forest-pooled =
    Cells with too few rows were merged with the most similar cell, so their rows may have moved to another leaf of some
    trees.
forest-closed = The tests and rules of these trees are not shown, because some of them describe few rows.
forest-trees-fold = Tree by tree
forest-trees-table = Trees of the forest
forest-head-tree = Tree
forest-head-first-test = First test
forest-head-second-test = Then, for most rows
forest-head-leaves = Leaves
forest-head-same-leaf = Rows still in the same leaf
forest-shared-table = Rules shared by several trees
forest-head-trees = Trees
forest-shared-more = { $count ->
    [one] { $count } more rule is shared by several trees.
   *[other] { $count } more rules are shared by several trees.
}
forest-shared-nothing = No two trees share a whole rule.

## Rules of a forest, original and release

forest-rules-heading = Rules of a forest
forest-rules-lead =
    One forest for { $target } was trained on the original and one on the release (SysFor: { $trees ->
        [one] { $trees } C4.5 tree
       *[other] { $trees } C4.5 trees with alternative tests near the root
    }). The table shows how many of the original forest’s rules, weighted by the rows they cover, are also in some tree of
    the release’s forest. Floor: the same for a forest trained on a resample of the original. By chance: the same for a
    forest trained after { $target } was shuffled.
forest-rules-table = Rules preserved over the forest
forest-rules-near = Rules preserved, similar thresholds
forest-rules-exact = Rules preserved, equal thresholds
forest-rules-near-unweighted = Rules preserved, similar thresholds, unweighted
forest-rules-exact-unweighted = Rules preserved, equal thresholds, unweighted
forest-rules-leaf-rows = Rows of the same class in the original forest’s leaves
forest-rules-leaves = Leaves of the original forest with the same classes
forest-rules-note =
    100% if identical. Similar thresholds may move by 5% of a column’s range. Rows of the same class: nothing is trained on
    the release here; its rows are sent down the original’s forest, and the class counts of each leaf are compared. That is
    100% by construction if the release was made within the cells of this same forest.
forest-rules-basis =
    { $rules ->
        [one] { $rules } rule
       *[other] { $rules } rules
    } in { $trees ->
        [one] { $trees } tree
       *[other] { $trees } trees
    } of the original, { $released ->
        [one] { $released } rule
       *[other] { $released } rules
    } in { $released_trees ->
        [one] { $released_trees } tree
       *[other] { $released_trees } trees
    } of the release; a rule in several trees counts once. The floor is the mean of { $resamples ->
        [one] { $resamples } resample
       *[other] { $resamples } resamples
    }. Trained on { $coverage }.

## Models

models-title = Models trained on the release
models-lead = Tested on rows that no model had seen: { $control }.
models-accuracy-heading = Predicting { $target }
models-accuracy-too-few = Too few unseen rows have a known { $target } to show how well models predict it.
models-accuracy-no-rows = No unseen row has a known { $target } for a model to predict.
models-accuracy-lead =
    The accuracy of each model on unseen rows: the share of rows whose { $target } it predicts correctly. Always predicting
    the most frequent value is correct in { $majority } of cases.
models-accuracy-table = Accuracy
models-head-model = Model
models-head-release = Trained on the release
models-head-original = Trained on the original
models-head-difference = Difference, points
models-head-same-answer = Same prediction
models-accuracy-strip = Trained on the release { $released }, on the original { $original }
models-accuracy-note =
    Dot and line: the model trained on the release with its 95% interval. Upright mark: the model trained on the original.
    Same prediction: by both models, correct or not.
models-basis = { $basis }.
models-balanced-fold = Balanced accuracy
models-balanced-table = Balanced accuracy
models-balanced-note = The mean of the accuracies in each class, so every class counts the same however few rows it has.
models-sysfor = SysFor (forest)

agreement-heading = Agreement with the model of the original
agreement-too-few = Too few rows outside the release are known to show how often models agree.
agreement-lead = { $model ->
    [tree] The share of unseen rows for which a tree trained on the release predicts the same class as a tree trained on the original, with each column as target in turn. These trees are smaller than those compared above.
   *[other] The share of unseen rows for which a model trained on the release predicts the same class as a model trained on the original, with each column as target in turn.
}
agreement-floor =
    The floor is the same share for a tree trained on a resample of the original: a release at its floor loses no more than
    sampling does.
agreement-table = Agreement
agreement-more-table = Agreement for the other columns
agreement-more-fold = { $count ->
    [one] { $count } more column
   *[other] { $count } more columns
}
agreement-head-target = Target
agreement-head-agreement = Agreement
agreement-mean = { $count ->
    [one] the one other column
   *[other] mean of { $count } other columns
}
agreement-strip = Agreement { $agreement }, floor { $floor }
agreement-note =
    Dot and line: agreement with its 95% interval. Upright mark: the floor. By chance: if both trees gave each answer as
    often, but to random rows. Columns furthest below their floor come first.
agreement-left-out = Left out, because they have one class or a class for nearly every row: { $columns }.
agreement-not-tried = Not tried, because there are too many columns: { $columns }.

## Columns

columns-title = { $audience ->
    [internal] Columns before and after
   *[external] Columns as released
}
columns-lead-internal = The lowest and highest 1% of the numbers are outside their charts.
columns-lead-external = Charts leave out the lowest and highest values and merge bars of fewer than 5 rows; rare values are grouped together.
columns-dealt = Every column was dealt separately.
columns-one-partition = All columns were perturbed within the same cells: { $cells }.
columns-without-chart = { $count ->
    [one] The last column has no chart, because there are too many columns.
   *[other] The last { $count } columns have no chart, because there are too many columns.
}
column-tag = { $role ->
    [target] target
    [sensitive] sensitive
    [quasi-identifier] quasi-identifier
    [identifier] identifier
    [weight] weight
    [unit] unit
    [unchanged] unchanged
    [number] number
    [date] date
    [time] time
   *[category] category
}
column-changed = changed
column-fixed = fixed by the cell
column-range = allowed range
column-noise = noise delivered (standard deviation, share of the allowed range)
column-pull = pull from the ends of that range
column-missing = missing
column-distribution = distribution
column-distribution-identical = identical
column-shift = distribution shift
column-shift-points = { $points } points
column-shift-negligible = under 0.1 points
column-levels = values lost, new
column-levels-counts = { $lost }, { $new }
column-lowest = lowest 5%
column-highest = highest 5%
column-heap = heaping at { $value }
column-before-after = { $before } → { $after }

## Relations between columns

relations-title = Relations between columns
relations-lead =
    The strength of association of two columns, from 0 (none) to 1 (one determines the other): correlation of two numbers,
    Cramér’s V of two categories, correlation ratio of a number and a category.
relations-one-moved = The strength of the one association changed by { $largest }.
relations-moved =
    The strength of { $count ->
        [one] { $count } association
       *[other] { $count } associations
    } changed by { $mean } on average, and by { $worst } for the 1% that changed most.
relations-unchanged = No association changed.
relations-table = The associations that changed most
relations-head-before = Before
relations-head-after = After
relations-head-change = Change
relations-picture = Strength before (below the diagonal) and after (above it): symmetric if preserved

value-pairs-external = { $share } of the released rows show a pair of values that no original row has.
value-pairs-heading = Pairs of values that no original row has
value-pairs-lead =
    The release has { $new ->
        [one] { $new } pair
       *[other] { $new } pairs
    } of values that never occur together in the original. { $rows_with_new } of the released rows show at least one; the
    most affected 1% of the rows show { $in_worst } on average. Lost from the original: { $lost ->
        [one] { $lost } pair
       *[other] { $lost } pairs
    }, found in { $rows_with_lost } of the original rows.
value-pairs-fold = Pairs of columns affected
value-pairs-table = Pairs of columns with most new pairs of values
value-pairs-head-new = New pairs
value-pairs-head-new-rows = Released rows
value-pairs-head-lost = Lost pairs
value-pairs-head-lost-rows = Original rows
value-pairs-note =
    Categories, and numbers with at most 20 values; { $pairs } of { $of ->
        [one] { $of } pair
       *[other] { $of } pairs
    } of columns.

## Statistics of several columns

biases-fold = Biases, information loss and distinguishability
biases-table = Bias of numeric columns
biases-head-bias = Bias
biases-head-mean = Mean size
biases-head-worst = Largest 1%
biases-head-count = Figures
biases-spread = A: standard deviation
biases-among = B: correlations among sensitive numbers
biases-across = C: correlations with other numbers
biases-distance = D: distribution, largest difference of shares
biases-quantiles = D: quantiles, in standard deviations
biases-accuracy = DM: accuracy of a model, release minus original
biases-rules = DM: rules that both trees share
biases-note = 0 means unbiased; for shared rules 1 is best.

loss-table = Information loss
loss-head-value = Value
loss-il1s = IL1s: mean change of a number
loss-il1s-how = largest 1%: { $worst }; 0 is best
loss-squares = Squared changes divided by squared deviations
loss-eigenvalues = Eigenvalues of the correlation matrix
loss-zero-best = 0 is best
loss-propensity = pMSE ratio, { $model }
loss-propensity-how = 1 or less: the model cannot distinguish the tables; { $coverage }
loss-eduds = EDUDS: same allowed range under two forests (our definition)
loss-eduds-how = most affected 1%: { $worst }; 1 is best, { $chance } by chance
loss-edusc = EDUSC: what each column alone predicts of the target (our definition)
loss-one-best = 1 is best

regression-fold = Regression
regression-not-run = No regression could be run.
regression-lead = { $model ->
    [logistic] A logistic regression of { $target } on all other columns was run on both tables.
   *[linear] A linear regression (least squares) of { $target } on all other columns was run on both tables.
}
regression-overlap =
    The 95% intervals of a coefficient share { $overlap } of their width on average (1 is best, disjoint intervals count as
    0), and { $worst } in the worst 1%. The intervals of { $disjoint } of the coefficients are disjoint.
regression-table = The coefficients that agree least
regression-head-coefficient = Coefficient
regression-head-overlap = Overlap
regression-level = { $column } = { $level }
regression-interval = { $low } to { $high }
regression-not-estimated = not estimable
regression-note =
    Overlap: the part of their width that both intervals share; negative if they are disjoint. Based on { $coverage };
    { $count ->
        [one] { $count } coefficient
       *[other] { $count } coefficients
    }.

clusters-fold = Clusters
clusters-table = k-means clusters of both tables
clusters-head-count = Clusters
clusters-head-error = Rows in another cluster
clusters-head-rand = Adjusted Rand index
clusters-head-centre = Rows moved by new centres
clusters-note-rows =
    Rows in another cluster: a person’s released row is in another cluster than the original row, with clusters matched as
    well as possible.
clusters-note =
    Rows moved by new centres: original rows that the centres of the release assign to another cluster;
    the floor is the same for a resample. Based on { $coverage }.

totals-fold = Weighted totals
totals-table = Weighted totals and means
totals-moved-table = Groups whose weighted totals moved most
totals-moved-note = Of groups with at least 1% of the weight and 10 rows: levels of categories, and values of numbers that have few.
totals-moved-head-group = Group
totals-moved-head-change = Change
totals-group = { $column }: { $level }
totals-head-total-before = Total before
totals-head-total-after = Total after
totals-head-mean-before = Mean before
totals-head-mean-after = Mean after
totals-note = { $weights ->
    [released] Weighted with the weights of the release.
   *[original] Weighted with the weights of the original.
}
totals-changes =
    Totals changed by { $mean } on average and by { $worst } for the 1% that changed most; counts of categories by
    { $count_mean } and { $count_worst }.

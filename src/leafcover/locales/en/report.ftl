# The release report: opening, summary, verdicts, headline figures, charts.
# Figures arrive as text that the disclosure rules have formatted; counts arrive as numbers.

## Figures

figure-suppressed = not shown
under = under { $value }
over = over { $value }
about = about { $value }
interval = { $low } to { $high }
interval-nobody-attacked = nobody to attack
interval-too-few = too few attempts
percentage-points = { $number ->
    [one] { $value } percentage point
   *[other] { $value } percentage points
}
cell-interval = { $interval }; most exposed 1%: { $worst }
names-none = none
names-more = { $count } more
names-listed = { $names } and { $last }
scale = From { $low }% to { $high }%

## Names of risks

risk-name = { $kind ->
    [linkage] maximum-knowledge record linkage
    [inference] attribute inference of { $column } above control
    [copies] copies above control
   *[membership] membership inference above 1% false alarms
}
inference-method = { $method ->
    [granted] the method and its true trees or cells
    [regrown] trees or cells regrown from the release
    [model] a model trained on the release
    [stable] the nearest released record, compared on the least perturbed columns
    [distance] the distance to the nearest released record
    [presence] the shares of a person’s values in the release and in a sample of the population
    [trained] a classifier trained on some members and others
   *[nearest] the nearest released record
}
columns-attacked = { $all ->
    [yes] all { $columns } columns attacked
   *[no] { $attacked } of { $columns ->
        [one] { $columns } column
       *[other] { $columns } columns
    } attacked
}
absence = { $absence ->
    [suppressed] is not shown for so few rows
    [not-asked] was not measured for this report
    [dealt] does not apply
   *[impossible] could not be measured
}

## Opening

title-default = A released table
size = { $rows ->
    [one] { $rows } row
   *[other] { $rows } rows
}{ $units ->
    [0] {""}
   *[other] {" "}of { $units } units
} · { $columns ->
    [one] { $columns } column
   *[other] { $columns } columns
}{ $has_target ->
    [yes] {" "}· target { $target }
   *[no] {""}
}
date = Run of { $date }
method-recipe = Method: the recipe { $recipe } ({ $source }).
method-plan = Method: a custom plan, not one of Leafcover’s recipes.
method-unknown = Method: not known to Leafcover. The table was made by other software and is compared with its original.
decision = The data steward decides whether to publish. Leafcover measures; it does not approve a release.
limit-cells = Blocks of columns are shuffled inside cells, and an attacker can regrow the cells from the released file. On
    the Adult data (22,000 rows released, k = 20), an attacker with the cells inferred occupation 22 percentage points more
    often for people in the release than for others, and distinguished the two with an area under the curve of 0.99 (0.96
    with regrown cells). This report measures the same attacks on this table. The recipe cover gives away far less.

refusal-seed = It was made with a fixed seed: anyone who guesses the seed can undo the perturbation.
refusal-order = Its rows are in their original order: anyone who knows the order can identify every row.

conclusion = { $level ->
    [partly-known] Disclosure risk is only partly known: the highest figure measured is { conclusion-bound }, the
        { interval-end } of the interval for { $name }, but attribute inference has no usable control.
    [low] Among the attacks that this report runs, disclosure risk is low: the highest figure is { conclusion-bound }, the
        { interval-end } of the interval for { $name }, within { limit-named }.
    [moderate] Among the attacks that this report runs, disclosure risk is moderate: the { interval-end } of the interval for
        { $name } is { conclusion-bound }, above { limit-named }.
   *[high] Among the attacks that this report runs, disclosure risk is high: the { interval-end } of the interval for { $name }
        is { conclusion-bound }, above { limit-named }.
}
chip = { $level ->
    [low] Low risk
    [partly-known] Risk only partly known
    [moderate] Moderate risk
    [high] High risk
    [refused] Do not publish
    [unmeasured] Risk not measured
   *[not-known] Risk not known
}
chip-figure = { conclusion-bound }, limit { $limit }%
limit-named = the limit of { $limit }% ({ $source ->
    [public] for the public
    [researchers] for researchers who are bound by an agreement
    [given] set by the data steward
    [none-high] usual for researchers who are bound by an agreement; no limit was set
   *[none] usual for the public; no limit was set
})
conclusion-bound = { $unit ->
    [percent] { $bound }%
   *[points] { $bound } percentage points
}
interval-end = { $end ->
    [upper] upper end
   *[lower] lower end
}
conclusion-refused = This release must not be published.
conclusion-unmeasured = { $absence ->
    [suppressed] Disclosure risk is not shown, because the table has too few rows.
   *[not-asked] Disclosure risk was not measured, so this report supports no conclusion about publication.
}
conclusion-copies = Among the attacks that this report runs, disclosure risk is high: copies above control
    ({ $part }) are more frequent than chance explains.
conclusion-not-known = { $reason ->
    [linkage] Disclosure risk is not known, because record linkage could not be measured.
   *[inference] Disclosure risk is not known, because attribute inference has no usable control.
}

## Summary: what was kept

kept-by-method = By design, the method keeps { $what }.
kept-leaves = { $share } of the rows are in the same leaf as before in the tree for { $target } that guided the release, so
    that tree’s rules still hold for them.
kept-leaves-forest = { $share } of the rows, on average over the { $trees } trees for { $target } that guided the release, are
    in the same leaf as before; in the tree that was kept least it is { $least }.
kept-unmeasured = { $absence ->
    [suppressed] The loss of utility is not shown for so few rows.
   *[not-asked] The loss of utility was not measured for this report.
}
kept-agreement = A tree for { $target } trained on the release agrees with one trained on the original on { $agreement } of
    unseen rows. A tree trained on a bootstrap sample of the original agrees on { $floor }: about the best that a table of this
    size allows.{ $guided ->
        [yes] {" "}These trees were grown for this comparison; they did not guide the release.
       *[no] {""}
    }
kept-answers = { $share } of the rows get the same prediction from the release’s tree and the original’s.
kept-marginals = Every column holds the same values as before, each with the same frequency.
kept-associations = { $count ->
    [one] The association between the two columns, on a scale from 0 to 1, changed by { $largest }.
   *[other] Associations between pairs of columns, on a scale from 0 to 1, changed by { $mean } on average and by { $largest } at
        most.
}

## Summary: what is protected

protected-by-method = By design, the method hides { $what }.
protected-changed = { $share } of all values differ from the original value of their row.
linkage-unmeasured = { $absence ->
    [suppressed] Disclosure risk is not shown for so few rows: do not assume that it is low.
    [not-asked] Disclosure risk was not measured for this report: do not assume that it is low.
    [dealt] { finding-dealt }
   *[impossible] Re-identification risk could not be measured: do not assume that it is low.
}
linkage-found = Re-identification: an attacker who knows { $known ->
    [0] no quasi-identifier
    [one] the quasi-identifier { $column }
   *[other] { $known } quasi-identifiers
} of a person and { $method ->
    [plan] { $trees ->
        [yes] the method, its plan and its trees
       *[no] the method and its plan
    }
   *[perturbation] how values were perturbed
} links the person to the right row in { $risk } of cases{ $has_worst ->
    [yes] {""}, and in { $worst } for the most exposed 1% of people
   *[no] {""}
}. A random guess is right once in { $rows }.
inference-found = Attribute inference: { $several ->
    [yes] of { $tried }, { $column } is the most inferable compared with people outside the release.
   *[no] { $column } was attacked, with people outside the release as control.
} Using { inference-method }, an attacker is right for { $inside } of the people in the release and for { $outside } of people
    who are not in it.
inference-difference = { $shown ->
    [no] The difference, { $points }, may be chance: its interval includes 0, so there is no evidence that a person’s own
        record reveals more than general patterns do.
    [largest] The difference, { $points }, is what a person’s own record reveals; the rest are general patterns. As the
        largest of several it is more likely too high than too low.
   *[yes] The difference, { $points }, is what a person’s own record reveals; the rest are general patterns.
}
membership-found = Membership inference: using { inference-method }, an attacker finds { $found } of the people in the release
    while taking 1% of others for members. Of one person in the release and one outside it, the best attack picks the right
    one in { $area } of cases; 50% is chance.
inference-without-control = Attribute inference: { $names } can be guessed from the nearest released record, but without a
    control (rows that were not released) it is unknown how much a person’s own record contributes.

## Verdicts

fit = { $fit ->
    [yes] yes
    [with-care] with care
    [no] no
   *[not-known] not known
}
use = { $use ->
    [publication] { $column ->
        [researchers] Release to researchers under an agreement
       *[other] Publication outside the organisation
    }
    [target-models] Models of { $column }
    [other-models] Models of the other columns
    [models] Models and statistics
    [counts] Counts and shares of one column
    [associations] Associations between two columns
    [combinations] Rare combinations of values
   *[records] Looking up individual records
}
why-refused = Do not publish. { $reason }
why-utility-unmeasured = { $absence ->
    [suppressed] The loss of utility is not shown for so few rows.
   *[not-asked] The loss of utility was not measured for this report.
}
why-models-untested = { $few ->
    [yes] Too few rows outside the release are known to test models on.
   *[no] No rows outside the release are known to test models on.
}
why-target-models = On unseen rows, a tree trained on the release agrees with one trained on the original in { $agreement } of
    cases; a tree trained on a bootstrap sample of the original agrees in { $floor }.
why-other-models = With each other column as target, trees agree in { $agreement } of cases on average; trees trained on a
    bootstrap sample of the original agree in { $floor }.
why-gap = { $gap ->
    [at-most] The release is at most { $points } percentage points below that.
    [over] The release is more than { $points } percentage points below that.
    [exact] The release is { $points } percentage points below that.
   *[none] The release is not below that.
}
why-models-limit = Fit means at most { $limit } percentage points below.
why-other-models-limit = { $low ->
    [0] Each of them is at most { $limit } percentage points below.
   *[other] Fit means at most { $limit } percentage points below; further below: { $names }.
}
why-counts = { $exact ->
    [yes] The share of every value is as in the original rows, to the digits shown.
   *[no] Shares of a column changed by at most { $points }.
}
why-counts-limit = Fit means that no share changed by more than { $limit } percentage points.
why-means = { $all ->
    [yes] The means of all numeric columns are kept, within a tenth of their standard error.
   *[no] { $kept ->
        [one] { $kept } mean
       *[other] { $kept } means
    } of { $numbers ->
        [one] { $numbers } numeric column
       *[other] { $numbers } numeric columns
    } are kept, within a tenth of their standard error.
}
why-associations = { $moved ->
    [no] No association changed.
    [exactly] Associations changed by { $mean } on average (0 is no association, 1 a perfect one), most of all { $first } with
        { $second }, by { $largest }.
   *[yes] Associations changed by { $mean } on average (0 is no association, 1 a perfect one), most of all { $first } with
        { $second }.
}
why-associations-limit = Fit means that none changed by more than { $limit }.
why-combinations = { $share } of the rows hold a pair of values that does not occur in the original.
why-records = { $known ->
    [yes] { $share } of the values are not the person’s own. Do not read a released row as the record of a person.
    [suppressed] Some of the values are not the person’s own. Do not read a released row as the record of a person.
    [dealt] Every column was dealt separately, so no released row is the record of a person.
   *[no] It is not known which values are the person’s own. Do not read a released row as the record of a person.
}
why-publication-limit = Fit means, for { limit-named }: { $linked ->
    [yes] the upper ends of the intervals of record linkage and of attribute inference above control, for every column, are at
        most { $limit }%;
   *[no] the upper end of the interval of attribute inference above control is at most { $limit } percentage points for every
        column;
} the lower end of what membership inference finds beyond 1% false alarms is at most { $limit } percentage points; no copies
    are significant. The data steward decides whether that is enough.

finding-advice = Above the limit { $count ->
    [one] is { $columns }: make this column coarser (option recode) or leave it out (option drop)
   *[other] are { $columns }: make these columns coarser (option recode) or leave them out (option drop)
}, or protect all columns more ({ $dealt ->
    [yes] option set, such as price=1
   *[no] option set, or another recipe
}).
finding-unmeasured = { $absence ->
    [suppressed] Disclosure risk is not shown for so few rows.
   *[not-asked] Disclosure risk was not measured for this report.
}
finding-not-linked = Record linkage was not measured, because it is not known which released row belongs to whom.
finding-dealt = Record linkage does not apply: every column was dealt separately, so no released row belongs to one person. That
    is no evidence of protection.
finding-linkage = An attacker who knows the method and everything but the key links a person to the right row in { $risk } of
    cases.
finding-inference = Of all columns, { $column } decides: its attribute inference above control, using { inference-method },
    is { $points }.
finding-no-inference = { $few ->
    [yes] Too few people were attacked to say what a person’s own record reveals beyond general patterns.
   *[no] Without a control it is unknown what a person’s own record reveals beyond general patterns.
}
finding-membership = Membership inference, using { inference-method }, finds more people in the release than the 1% of others
    whom it takes for members, by { $points }.
finding-copies = Copies: { $kind ->
    [reproduced] the release holds { $part }, by { $points } more of them than independent draws reproduce at most
    [attached] the release holds { $part }, by { $points } more of them than by chance
    [near] the release holds { $part }, for { $points } more of the people in it than by chance
   *[other] { $part } occur in the release more often for people in it than for others, by { $points }
}. Chance does not explain that (p < 0.001), so it is above every limit.
finding-above-limit = The { interval-end }, { $bound }, is above { $limit }.

## Headline figures

tile-linkage = record linkage
    .note = links by an attacker who knows everything but the key; 95% interval { $interval }{ $has_worst ->
        [yes] {""}; most exposed 1%: { $worst }
       *[no] {""}
    }
    .absent = { $absence ->
        [suppressed] not shown for so few rows
        [not-asked] not measured for this report
       *[impossible] could not be measured
    }
tile-inference = points of attribute inference above control
    .uncontrolled = no control
    .too-few = too few people were attacked
    .note = 95% interval { $interval }{ $shown ->
        [yes] {""}
       *[no] {""}, so no effect was shown
    }; { $column }, the highest of { $tried }
tile-membership = of members found at 1% false alarms
    .note = 95% interval { $interval }; largest area under the ROC curve { $area }, where 50% is chance
tile-agreement = agreement on unseen rows
    .note = { $has_interval ->
        [yes] 95% interval { $interval }; { $floor } for a bootstrap sample
       *[no] { $floor } for a bootstrap sample
    }
tile-leaves = rows in the same leaf
    .tree = of the tree for { $target } that guided the release
    .forest = on average over { $trees } trees for { $target }; { $least } in the tree kept least
tile-changed = values changed
    .note = replaced by another row’s value or a new one
tile-smallest-cell = rows in the smallest cell
    .note = values are perturbed only within a cell
tile-smallest-leaf = rows in the smallest leaf
    .note = values are dealt within the leaves of a tree for their column

## What is missing

section-absent-suppressed = What is not shown
section-absent-unmeasured = What was not measured
section-absent-impossible = What does not apply or could not be measured
absent-suppressed = { $rows ->
    [one] A share of { $rows } row would reveal fewer than 5 people, so this report shows no shares.
   *[other] A share of { $rows } rows would reveal fewer than 5 people, so this report shows no shares.
}
absent-unmeasured = Nothing was measured for this report. It describes what the method did, not the loss of utility or the
    disclosure risk.
section-extra = Further measures
extra-head-measure = Measure
extra-head-side = Of
extra-head-value = Value
extra-side = { $side ->
    [risk] disclosure risk
   *[utility] utility
  }
report-extra-missing = Install leafcover[report] to write a report ({ $package } is missing): pip install 'leafcover[report]'.

## Charts

chart-others = { $named ->
    [no] others
   *[yes] { $count ->
        [one] { $count } other
       *[other] { $count } others
    }
}
chart-histogram = { $original ->
    [yes] Histogram of { $column }: original as an outline, release filled
   *[no] Histogram of { $column }: released values
}
chart-bars = Most frequent values of { $column } in the release: { $shares }
chart-associations = Associations between { $columns } columns: original below the diagonal, release above it. They changed by
    { $mean } on average.

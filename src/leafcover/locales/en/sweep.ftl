# The risk-utility map: the page of `leafcover sweep --report` and what the command prints.

## Lists

list-and = { $most } and { $last }

## Head of the page

page-title = Leafcover risk-utility map: target { $target }
page-kind = Leafcover · risk-utility map
headline-recommended = Recommended: { $name }
headline-none = No candidate to recommend at a limit of { $limit }
headline-no-limit = { $count ->
    [one] { $count } candidate release compared
   *[other] { $count } candidate releases compared
}
page-facts = { $rows ->
    [one] { $rows } row
   *[other] { $rows } rows
} · target { $target } · { $candidates ->
    [one] { $candidates } candidate
   *[other] { $candidates } candidates
}{ $limit ->
    [none] {""}
   *[other] { " · " }limit { $limit }
}

## The recommendation, and why

summary-heading = Summary
recommended = Among the candidates within the limit of { $limit }, { $name } agrees best with the original’s tree for { $target }.
no-limit = No risk limit was set, so no candidate is recommended; set one. On the Pareto front, where no other candidate has lower risk and at least the same agreement: { $names }.
none-within-limit = No candidate stays within the limit of { $limit }. The closest is { $name }: { $kind ->
    [linkage] the upper bound of its record-linkage risk is { $end }.
    [inference] the upper bound of attribute inference above control is { $end } for { $column }.
    [membership] the lower bound of membership inference above 1% false alarms is { $end }.
   *[copies] records or rare values of people in the original occur in it more often than chance explains.
}
none-useful = No candidate within the limit of { $limit } is clearly more useful than always giving the most common answer, which agrees with the original’s tree for { $target } on { $majority } of the held-out rows. The closest is { $name }, with an agreement of { $agreement }.
none-useful-resample = A resample of the original is not clearly better either: { $target } hardly depends on the other columns, so there is little for a release to preserve.
advice-weaker = Raise the risk limit, choose another target, or try weaker settings.
advice-stronger = Raise the risk limit, drop columns, or try stronger settings.
reason-utility = Utility: a tree grown on this release gives the same answer as a tree grown on the original for { $agreement } of the held-out rows. A tree grown on a resample of the original reaches { $floor }; always giving the most common answer reaches { $majority }.
reason-linkage = Record linkage: an attacker who knows the method, everything but the secret key, and a person’s values in { $known ->
    [all] all columns except { $target }
   *[quasi-identifiers] { $columns }
} links that person to the right released row in { $risk } of attempts{ $people ->
    [none] .
   *[other] , about one person in { $people }.
}
reason-no-linkage = Record linkage: no released row comes from one original row, so there is no row to link a person to.
reason-inference = Attribute inference: of { $columns ->
    [one] the column attacked
   *[other] { $columns } columns attacked
}, { $column } has the highest upper bound. { $direction ->
    [above] An attacker who knows a person’s other values infers it more often
   *[level] There is no evidence that an attacker who knows a person’s other values infers it more often
} for people in the release than for people outside it; the difference is { $above }.
reason-membership = Membership inference: { $direction ->
    [above] at 1% false alarms more than 1% of the people in the release are found
   *[level] there is no evidence that more than 1% of the people in the release are found at 1% false alarms
}; the difference is { $above }.
reason-alternative = Consider { $name }: its agreement of { $agreement } lies within the interval of the recommended candidate, and its largest risk is { $risk } instead of { $recommended }.
scope = The sweep compared { $candidates ->
    [one] { $candidates } candidate release
   *[other] { $candidates } candidate releases
} ({ $recipes }), each tried { $runs ->
    [1] once
    [2] twice
   *[other] { $runs } times
}. Each trial released { $released } rows and held out { $held }. The held-out rows test the utility of the release and serve as the control of the attacks.
scope-recipe = { $recipe } at { $count ->
    [one] { $count } setting
   *[other] { $count } settings
}
scope-sample = The trials used a sample of { $rows } of the { $table_rows } rows.
skipped = Skipped: { $name }. { $reason }
skipped-group-size = { $parameter } = { $value } is more than a trial can hold: a trial releases { $rows } of { $of } rows.{ $sampled ->
    [yes] { " " }Use more rows.
   *[no] {""}
}

## The map

map-heading = Risk-utility map
map-lead = Each mark is one candidate release. Higher is closer agreement with the original’s tree for { $target }; further left is lower disclosure risk: record linkage, or inference above control of the most inferable column, whichever has the higher upper bound. Thin lines are intervals; an arrowhead marks an interval that extends beyond the chart. The text beside a mark is its setting.
legend-recipe = { $parameter ->
    [none] {""}
   *[other] by { $parameter }
}
legend-front = Pareto front (filled marks)
legend-resample = resample of the original
legend-limit = limit { $limit }
legend-recommended = recommended
baselines = The dashed line is the agreement of a tree grown on a resample of the original, { $floor }, and the band is its interval: a release near the line loses no more than sampling variation does. Always giving the most common answer reaches { $majority }; a candidate that is not clearly above it is never recommended.
others-heading = Agreement for other columns
others-lead = The same candidates, compared by trees for { $columns }, on average. Filled marks are on the Pareto front of the first map.
chart = Risk-utility map for { $target }. On the Pareto front: { $points }. The table below lists every candidate.
chart-others = Risk-utility map for other columns. On the Pareto front of the first map: { $points }. The table below lists every candidate.
chart-point = { $name }: risk { $risk }, agreement { $agreement }
chart-mark = { $name }: risk { $risk } ({ $kind }), agreement { $agreement }
chart-floor = A tree grown on a resample of the original agrees on { $floor }
axis-agreement = ↑ agreement for { $target }
axis-agreement-others = ↑ agreement for other columns
axis-risk = largest risk: linkage, or inference above control →

## The table

table-heading = All candidates
table-lead = From the lowest to the highest risk. ★ marks the Pareto front: no other candidate has lower risk and at least the same agreement.{ $limit ->
    [none] {""}
   *[other] { " " }Grey rows exceed the limit of { $limit }.
}
table-candidate = Candidate
table-linkage = Record linkage
table-most-exposed = Most exposed 1%
table-risk = Largest risk
table-membership = Membership above 1%
table-copies = copies found
risk-short = { $kind ->
    [linkage] record linkage
   *[inference] inference of { $column }
}
strength-default = defaults
table-nearest = Nearest record
table-agreement = Agreement for { $target }
table-others = Agreement for other columns
table-accuracy = Accuracy
table-on-front = on the Pareto front
table-recommended = recommended
table-skipped = skipped: { $reason }
table-range = { $low } to { $high }
row-resample = resample of the original
row-majority = most common answer
row-original = the original
table-runs = { $runs ->
    [one] Each candidate was tried once; intervals are 95% intervals.
   *[other] Figures are means over { $runs } trials. An interval runs from the lowest lower bound to the highest upper bound of the trials’ 95% intervals, because you publish one release and not a mean. For inference and membership the people of all trials are pooled, as for a limit on one release.
}

## Limitations

limitations-heading = What the map does not show
limitation-trials = These are not the figures of your release
    .text = Every point is { $runs ->
        [one] one trial
       *[other] the mean of { $runs } trials
    } with { $released } released rows. Measure your release before you publish it, with leafcover measure or leafcover release --max-risk.
limitation-average = An average hides the most exposed people
    .text = A low risk is an average over people. Where record linkage does not depend on the key, the table also shows the risk of the most exposed 1%: people with rare values can be re-identified even when the average is low.
limitation-utility = Agreement is one kind of utility
    .text = It compares trees for { $targets }. Means, correlations and totals are not on the map; leafcover measure compares them.
limitation-attacks = These attacks are not all attacks
    .text = The limit covers the risks that leafcover release --max-risk compares: record linkage, inference of every column, membership and copies. The sweep attacks fewer people, so intervals are wider here. An attacker who knows other rows of the table, or holds a second release about the same people, may do better.

## Recipes

recipes-heading = What each recipe does
recipe-text = Keeps { $keeps }. Hides { $hides }.{ $weaknesses ->
    [none] {""}
   *[other] {" "}Weaknesses: { $weaknesses }.
  }

## Glossary

glossary-heading = Glossary
term-inference = attribute inference
    .text = The attacker knows a person’s other values and infers the remaining one: from the counts in the release, with the true trees or cells of the method or with those regrown from the release; or from the released record nearest to the person. The strongest attack counts. Every column is attacked.
term-membership = membership above 1%
    .text = The share of people in the release whom an attacker with their complete record recognises, at a threshold at which 1% of people outside the release are taken for members, minus that 1%. A limit is compared with its lower bound.
term-copies = copies
    .text = Records, parts of records or rare values of people in the original that occur in the release significantly more often than those of people outside it. A candidate with copies exceeds every limit.
term-linkage = record linkage
    .text = The attacker knows the recipe, its settings, the trees and the distribution of the perturbation (everything but the secret key) and picks the released row most likely to be a person’s. The figure is the share of people linked to their own row. A dash: no released row comes from one original row.
term-most-exposed = most exposed 1%
    .text = The mean of the same share over the 1% of people who are easiest to link, whatever the key. A dash: it depends on the key.
term-control = above control
    .text = How much more often a value is inferred correctly for people in the release than for people outside it. It leaves out what general patterns reveal about everyone.
term-nearest = nearest record
    .text = The share of people whose own released row is the one most similar to them: record linkage by an attacker who does not know the method.
term-agreement = agreement
    .text = The share of held-out rows to which a tree grown on the release gives the same answer as a tree grown on the original.
term-accuracy = accuracy
    .text = The share of held-out rows that a tree grown on the release predicts correctly.
term-front = Pareto front
    .text = The candidates that no other candidate beats in both risk and agreement.
contents = This page shows scores and column names, and no value of the table. Made with { $versions }.
footer = Written by Leafcover { $version }. This page loads nothing from any network.

## What the command prints

text-candidate = candidate
text-risk = risk
text-upper = upper
text-of = of
text-linkage = linkage
text-copies = { $of }, copies
text-membership = members
text-agreement = agreement
text-others = others
text-accuracy = accuracy
text-skipped = skipped
text-legend-recommended = → recommended
text-legend-front = ★ Pareto front: no other candidate has lower risk and at least the same agreement
text-legend-risk = risk, upper, of: the largest risk and its upper bound: record linkage, or inference above control of the column named
text-legend-membership = members: share of people in the release found at 1% false alarms, above 1%
text-legend-copies = copies: records or rare values occur in the release more often than chance explains; above every limit
text-legend-agreement = agreement, others: same answer as the original’s tree, for the target and for other columns
text-next = next
text-report = report
text-private = private
text-private-scores = { $file }: scores and the secret key of this sweep; do not publish
warning-skipped = { $name } was skipped. { $reason }
stopped-saved = the scores so far are in { $file }; repeat the command to continue
stopped-unsaved = no scores were saved
progress-candidates = choosing candidates
progress-start = 0 of { $total } trials: { $candidates ->
    [one] { $candidates } candidate
   *[other] { $candidates } candidates
} and baselines, { $runs ->
    [one] { $runs } run
   *[other] { $runs } runs
}
progress-trial = { $done } of { $total } trials{ $left ->
    [none] {""}
   *[other] , { $left }
}: { $name }, run { $run }
progress-baselines = { $done } of { $total } trials{ $left ->
    [none] {""}
   *[other] , { $left }
}: baselines, run { $run }
progress-estimate = The sweep takes about { $minutes ->
    [one] { $minutes } minute
   *[other] { $minutes } minutes
}: { $total } trials, of which the first of a recipe ({ $name }) took { $seconds } s{ $jobs ->
    [one] {""}
   *[other] {" "}with { $jobs } processes
}. Others may take more or less.
progress-left = about { $minutes } min left

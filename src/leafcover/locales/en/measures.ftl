# The text summary of all measures: what `print(lc.measure(...))` and `leafcover measure` show.

heading-risks = Disclosure risk
heading-decisive = Figures that the report’s verdict and a limit on the disclosure risk use
heading-utility = Utility
heading-absent = Not measured

## Figures

cases = { $risk } of cases
cases-worst = { $risk } of cases ({ $worst } for the most exposed 1%)
cases-none = no case (nobody to attack)
coverage-all = every row
coverage-sample = a sample of { $used } of { $rows } rows

## Disclosure risk

record-linkage = Record linkage: an attacker who knows { $quasi_identifiers ->
    [0] no column
    [one] the quasi-identifier
   *[other] the { $quasi_identifiers } quasi-identifiers
} of a person and { $knowledge ->
    [plan] the method, everything but the secret key,
   *[estimated] the distribution of the perturbation, estimated from half of the pairs,
} links the person to the right released row in { $risk }, and has that row among the ten best guesses in { $ten }; attacked: { $coverage }.
inference = Attribute inference: { $scope ->
    [all] among all columns
   *[some] among { $tried } of { $columns } columns
}, { $column } is inferred furthest above control. An attacker who uses { $method ->
    [model] a model grown on the release
    [stable] the nearest released record, compared on the least perturbed columns,
   *[nearest] the nearest released record
} infers it correctly in { $risk } for people in the release and in { $control } for people outside it (the control): { $above } above control{ $effect ->
    [shown] .
   *[none] , so no effect is shown.
}
inference-no-control = Attribute inference: { $scope ->
    [all] among all columns
   *[some] among { $tried } of { $columns } columns
}, { $column } is inferred furthest above guessing. An attacker who uses { $method ->
    [model] a model grown on the release
    [stable] the nearest released record, compared on the least perturbed columns,
   *[nearest] the nearest released record
} infers it correctly in { $risk }; a guess is correct in { $baseline }. Without a control, general patterns and disclosure cannot be separated.
membership = Membership inference: of two people, one in the release and one outside it, the one closer to a released record is the member in { $risk }; 0.5 is chance.{ $area ->
    [none] {""}
   *[other] {" "}The one whose values are more frequent in the release than in a sample of the population is the member in { $area } of cases, and { $found } of members are found at 1% false alarms.
}
singling-out = Singling out: a predicate on { $predicates ->
    [univariate] one column
   *[multivariate] two to four columns
} that matches exactly one released row also matches exactly one original row in { $risk }{ $control ->
    [none] {""}
   *[other] , and exactly one row outside the release in { $control }
}; a random predicate of the same width matches exactly one original row in { $baseline }.
nearest-record = Nearest record: the released record most similar to a person is that person’s own in { $risk }.
reconstruction = Reconstruction: from the whole released row, { $column } is recovered furthest above guessing, correctly in { $risk }; the most common value is correct in { $baseline }.
homogeneous = Attribute disclosure of { $column }: { $where ->
    [release] in the released table
   *[original] in this table
} { $people } of { $of } { $where ->
    [release] rows
   *[original] people
} ({ $share }) are in a group of two or more with the same { $known ->
    [few] { $columns }
    [none] values, as there is no quasi-identifier,
   *[other] { $known } quasi-identifiers
} and a single value of { $column }, so finding the group discloses it; { $alone } more are alone in their group.
homogeneous-original = { homogeneous } In the original these are { $before } and { $before_alone } people. A released value need not be the person’s own; attribute inference counts how often it is.
averages = Microaggregation: the smallest group has { $smallest ->
    [one] { $smallest } row
   *[other] { $smallest } rows
}, and the other members of a group can together compute the last one’s value. { $identical } of the rows are in a group with a single value of { $identical_column }, and { $dominated } in a group where one row makes up most of the average of { $dominated_column }; no other column has more.
averages-missing = Missing values stay missing: { $share } of the rows differ from others of their group in what is missing, so their anonymity set is smaller than the smallest group.
unchanged = Unchanged values: { $values } of all values are unchanged; { $rows } of the rows are entirely unchanged.
control = Control: { $control }.
decisive = { $name }: { $risk }; { $end ->
    [upper] the upper end counts.
    [significant] no chance explains it, so it is above every limit.
   *[lower] the lower end counts.
}{ $method ->
    [granted] {" "}The attacker knows the method and its true trees or cells.
    [regrown] {" "}The attacker regrows trees or cells from the release.
    [model] {" "}The attacker uses a model grown on the release.
    [stable] {" "}The attacker uses the nearest released record, compared on the least perturbed columns.
    [nearest] {" "}The attacker uses the nearest released record.
    [distance] {" "}The attacker uses the distance to the nearest released record.
    [presence] {" "}The attacker compares how often values occur in the release and in a sample of the population.
    [trained] {" "}The attacker has trained a classifier on some members and others.
   *[plan] {""}
}
copies = Copies: { $record ->
    [whole] the whole record
   *[part] the record of { $record }, without { $outside ->
        [one] the near-unique column
       *[other] { $outside } near-unique columns
    },
} occurs in the release for { $members } of the people in it{ $control ->
    [none] {""}; of records that nobody else has, for { $unique }. There is no control to compare with.
   *[other] {" "}and for { $control } of others; of records that nobody else has, for { $unique } and { $unique_control }.
} { $found ->
    [0] No comparison of members with others, or of counts with chance, is significant.
    [one] One comparison of members with others, or of counts with chance, is significant: { $most }.
   *[other] { $found } comparisons of members with others, or of counts with chance, are significant, most of all { $most }.
}
near-copies = Near-copies: { $found ->
    [yes] an estimated { $people } people in it or more ({ $low } to { $high }) have a released row that agrees with them in nearly every column, as no other row does, and that chance does not explain.
   *[no] no more released rows than by chance agree with one person in nearly every column as no other row does.
}
copies-record = { $columns ->
    [one] one column ({ $names })
   *[other] { $columns } columns ({ $names })
}
copies-untested = Copies were not tested: nobody was held out to compare with, and no record is rare enough to be tested without a control.
copies-alone = Copies: { $found ->
    [0] in no comparison do records of people occur in the release more often than chance explains.
    [one] one comparison shows more of the original in the release than chance explains: { $most }.
   *[other] { $found } comparisons show more of the original in the release than chance explains, most of all { $most }.
}
copies-kind = { $kind ->
    [records] whole records
    [unique] records that nobody else has
    [rare] people with a rare value
    [rarest] people with the rarest levels of { $columns }
    [lowest] people with the lowest values of { $columns }
    [highest] people with the highest values of { $columns }
    [extreme] people with the lowest or highest values
    [block] records without { $without }
    [reproduced] rare records, each exactly as often as in the original
    [reproduced-value] rare values of { $columns }, each exactly as often as in the original
    [near] records that agree with one person in nearly every column
    [attached] rare values of { $first }, in rows that have the same { $second } as their people
    [reproduced-part] rare records without { $without }, each exactly as often as in the original
   *[value] values of { $columns }
}
informed = An attacker who knows the method and { $knowledge ->
    [granted] is granted its trees or cells
    [regrown] regrows its trees or cells from the release
   *[rows] its trees, and { $rows } of the other rows,
} infers { $column } best: for { $main } of the people in the release{ $control ->
    [none] {""}; there is no control to compare with.
   *[other] {" "}and { $control } of others, { $above } above control.
} Membership: area { $area }; { $found } of members found at 1% false alarms.
trained = A classifier trained on some members and others recognises members: area { $area }; { $found } found at 1% false alarms, { $rarely } at 0.1%.

## Utility

trees = The rules of trees for { $target } grown on the original and on the release are graded “{ $grade }”: those they share cover { $tolerant } of the rows ({ $strict } if no threshold may move). By whichever rules, both give the same answer for { $answers } of the rows.
trees-pruned = They count as similar because { $pruned ->
    [original] the original’s tree is a pruned form of the release’s.
   *[release] the release’s tree is a pruned form of the original’s.
}
forest-rules = Rules of a forest of { $trees ->
    [one] { $trees } tree
   *[other] { $trees } trees
} grown on the original, weighted by the rows they cover: a forest grown on the release has { $kept } of them ({ $kept_exact } if no threshold may move), one grown on a resample of the original { $floor } ({ $floor_exact }), one grown for a shuffled target { $chance } ({ $chance_exact }).
forest-leaves = When the released rows are sent down the original’s forest, { $kept } of the rows match the class counts of its leaves. The rows of a resample reach { $floor }, rows with a shuffled target { $chance }.
agreement = Agreement: on rows that neither tree was grown on, a tree grown on the release gives the same answer as one grown on the original in { $agreement } of cases. The floor, a tree grown on a resample of the original, reaches { $floor }.
agreement-others = { $target ->
    [yes] { $columns ->
        [one] With the one other column as target
       *[other] With each of { $columns } other columns as target
    }
   *[no] { $columns ->
        [one] Agreement with the one column as target
       *[other] Agreement with each of { $columns } columns as target
    }
}: { $agreement }, against { $floor } for a resample.
accuracy = Accuracy in predicting { $target }, trained on the release (in brackets: trained on the original): { $models }.
accuracy-model = { $model } { $released } ({ $original })
association = The association between the two columns changed by { $largest }.
associations = Associations between columns changed by { $mean } on average and by { $largest } at most.
relation-errors = Their error is { $mean } times that of a bootstrap sample on average, { $largest } times at most ({ $first } and { $second }).
groups-moved = Weighted totals of groups with at least 1% of the weight moved most in { $groups }.
margins = Three-way margins score { $score } of 1000; a bootstrap sample scores { $expected }.
moments = Within a tenth of a standard error, means are kept in { $means } of { $columns } numeric columns, and variances are not larger in { $variances }.
new-pairs = { $pairs ->
    [0] No pair of values exists only in the release.
    [one] { $pairs } pair of values exists only in the release; { $rows } of the released rows contain it.
   *[other] { $pairs } pairs of values exist only in the release; { $rows } of the released rows contain at least one.
}

## What could not be measured

absent-pairs = record linkage, reconstruction, interval disclosure and unchanged values
    .reason = It is not known which released row belongs to which person. Give the pairs (pairs=...).
    .dealt = The values of every column were dealt separately, so no released row belongs to one person.
absent-control = prediction, agreement and membership inference
    .reason = No rows outside the release are known. Give a control (control=...), or hold rows out when you release (hold_out=0.3).
absent-target = trees, forests, prediction and regression
    .reason = No target was named. Name one (target=...).
absent-weight = weighted totals
    .reason = No weight column was named. Name one (roles={ "{" }'weight': 'weight'{ "}" }) if there are weights.

reason-no-weight = No weight column was named.
reason-weight-not-numeric = The weight column is not numeric.
reason-no-released-weight = The release has no weights, and there are no pairs to take the original’s.
reason-no-numbers = The table has no numeric column.
reason-no-pairs = There are no pairs of original and released rows.
reason-no-sensitive-number = No sensitive attribute is numeric, so no bias is measured.
reason-bias-b = B: there are no two sensitive numbers that vary.
reason-bias-c-all-sensitive = C: no sensitive attribute was named, so every number counts as sensitive.
reason-bias-c = C: there is no pair of a sensitive number and another one.
reason-no-target = No target was named.
reason-constant-target = The target has a single value.
reason-no-feature = No other column varies, or there are too few rows.

## Progress

progress-trees = comparing trees
progress-forest = comparing forests
progress-prediction = predicting
progress-agreement = growing trees for every column
progress-univariate = comparing columns
progress-tails = comparing tails
progress-heaping = comparing heaps
progress-bivariate = comparing associations
progress-relation-errors = comparing associations with bootstrap samples
progress-margins = comparing margins
progress-value-pairs = comparing pairs of values
progress-biases = measuring biases
progress-information-loss = measuring information loss
progress-propensity = distinguishing the two tables
progress-regression = fitting regressions
progress-totals = comparing weighted totals
progress-clusters = finding clusters
progress-properties = comparing properties
progress-probabilistic-linkage = record linkage by an estimated distribution
progress-record-linkage = record linkage by the method
progress-distance-linkage = record linkage by distance
progress-attribute-inference = attribute inference
progress-copies = copies
progress-informed-inference = attacks that know the method
progress-reconstruction = reconstructing values
progress-singling-out = singling out
progress-linkability = linkability of column sets
progress-membership-inference = membership inference
progress-shadow = shadow releases with and without people
progress-two-releases = two releases attacked together
progress-attribution = correct attribution
progress-k-anonymity = counting equivalence classes
progress-k-anonymity-of-release = counting equivalence classes of the release
progress-suda = finding special uniques
progress-individual-risk = individual risk
progress-nearest-record = distances to the nearest record
progress-interval-disclosure = interval disclosure
progress-sers = distance ranks
progress-candidates = counting candidates
progress-unchanged-values = counting unchanged values
progress-averages = what averages disclose

# Measures that plugins bring.

heading-extra = Further measures
extra = { $name }: { $value }{ $description ->
    [none] {""}
   *[other] {" "}({ $description })
  }

#!/bin/sh
# Release NIST's excerpt by three recipes and let NIST's own program judge them; writes docs/results/nist.md.
# Usage: sh benchmarks/nist/run.sh LEAFCOVER JUDGE_PYTHON
set -eu
data=${LEAFCOVER_DATA:-../shared/data}/nist_ma2019.csv.gz
page=docs/results/nist.md
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
gzip -dc "$data" > "$folder/original.csv"
tables=
for recipe in cover cells framework; do
    "$1" release "$folder/original.csv" -o "$folder/$recipe.csv" --target OWN_RENT --missing PINCP=N --missing POVPIP=N \
        --recipe $recipe --quiet > "$folder/log" || { cat "$folder/log"; exit 1; }
    tables="$tables $recipe=$folder/$recipe.csv"
done
cat > "$folder/page.md" <<'END'
# NIST's scores

What NIST's own program, `sdnist` (SDNist), says about releases of its excerpt ma2019 (Diverse Communities Data Excerpts, American Community Survey 2019, Massachusetts: 7,634 rows, 24 columns), target *OWN_RENT*,
default settings. Numbers with more than 20 values are compared by tenths. The k-marginal score is 1,000 for equal shares of all pairs of levels; *within areas* adds PUMA to each pair. The mean squared error of the
propensity score is 0 for tables that a decision tree cannot tell apart. Exact matches are released records equal to a record that is unique in the original, weights left out; a control is not part of this score.
Inconsistent records break rules such as "children are not married".

END
# shellcheck disable=SC2086
"$2" -W ignore benchmarks/nist/judge.py "$folder/original.csv" $tables >> "$folder/page.md"
printf '\n`make nist` writes this page.\n' >> "$folder/page.md"
mv "$folder/page.md" "$page"
cat "$page"

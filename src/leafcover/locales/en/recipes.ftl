# Every built-in recipe: where it comes from, what it keeps, what it hides.

cover = cover
    .source = Leafcover
    .keeps = the values of every column; the counts in the leaves of each column’s tree; the target’s rules and most others
    .hides = people: no released row descends from one person, and what the table can add to an attacker’s knowledge is bounded on average
cells = cells
    .source = Leafcover, the predecessor of cover
    .keeps = every count of every cell; the target’s rules; most rules of other columns
    .hides = which row of a cell has which value, block by block (but an attacker who regrows the cells infers many values)
framework = framework
    .source = Islam and Brankovic (2004), A Framework for Privacy Preserving Classification in Data Mining, with DETECTIVE (2005) for categories; sound defaults
    .keeps = every row’s leaf in the target’s tree; every leaf’s class counts
    .hides = numbers within the range of their leaf; categories among similar ones; the class within its leaf
framework-paper = framework-paper
    .source = Islam and Brankovic (2004), A Framework for Privacy Preserving Classification in Data Mining, with DETECTIVE (2005) for categories; as printed
    .keeps = every row’s leaf; every leaf’s class counts
    .hides = as framework, but leaves of one or two rows hide almost nothing
forest = forest
    .source = Fletcher and Islam (2015), An anonymization technique using intersected decision trees; sound defaults
    .keeps = every row’s leaf and every leaf’s class counts in many trees at once, as far as cells have min_cell rows
    .hides = numbers and categories within the intersection of a row’s leaves; the class within its cell
detective = detective
    .source = Islam and Brankovic (2005), DETECTIVE: A Decision Tree Based Categorical Value Clustering and Perturbation Technique for Preserving Privacy in Data Mining
    .keeps = the similarity of categories as their own trees see it
    .hides = categories only; numbers are released unchanged
random = random
    .source = the random technique (RT) that Fletcher and Islam (2015) compare with
    .keeps = nothing on purpose
    .hides = every value a little, patterns and people equally
perturbation-tree = perturbation-tree
    .source = Li and Sarkar (2006), as demonstrated in Roy, Performance Analysis of Clustering in Privacy Preserving Data Mining
    .keeps = every mean (unless average=median or on_grid); near rows stay near
    .hides = which of the k or more rows of a kd cell has which number; other columns are released unchanged
microaggregate = microaggregate
    .source = MDAV: Domingo-Ferrer and Mateo-Sanz (2002), Practical data-oriented microaggregation for statistical disclosure control; Domingo-Ferrer and Torra (2005)
    .keeps = every mean (unless average=median or on_grid); most relations among the numbers
    .hides = numbers among the k or more most similar rows; other columns are released unchanged
microaggregate-univariate = microaggregate-univariate
    .source = Hansen and Mukherjee (2003), A polynomial algorithm for optimal univariate microaggregation
    .keeps = every mean (unless average=median or on_grid); nearly every value
    .hides = little: the groups of several columns together re-identify most people
additive = additive
    .source = simple additive noise (SAN), as Roy compares it
    .keeps = means on average; not variances (times 1 + spread²); correlations only in part
    .hides = little: numbers stay near their original, and the nearest row is often the person’s own; categories are unchanged
multiplicative = multiplicative
    .source = multiplicative noise (MN), as Roy compares it
    .keeps = means on average, and signs; not variances, which grow most where values are large
    .hides = little: as additive; zeros stay, small values hardly move, dates and categories are unchanged

round = round
    .source = Hundepool and others (2012), Statistical Disclosure Control; one of the suppression methods in Roy, Performance Analysis of Clustering in Privacy Preserving Data Mining
    .keeps = every row, its categories exactly and its numbers up to half a unit of the last digit; means and associations nearly
    .hides = little: the last digits of numbers; rows that differ in what is left are found
top-code = top-code
    .source = Hundepool and others (2012), Statistical Disclosure Control
    .keeps = every value but the extremes; with to=mean every mean
    .hides = extreme values only: everybody else’s row is exact
intervals = intervals
    .source = Hundepool and others (2012), Statistical Disclosure Control (global recoding)
    .keeps = every row, its categories exactly; the interval of each number
    .hides = where in its interval a number is; rows are found by their other columns
generalise = generalise
    .source = Samarati and Sweeney (1998), Protecting privacy when disclosing information; Samarati (2001); the optimal search of El Emam and others (2009)
    .keeps = every row; k or more rows are equal in the quasi-identifiers, which are as fine as that allows; other columns exactly
    .hides = which of k rows is a person’s, from attackers who know the quasi-identifiers and nothing else; not values that all of these rows share
suppress = suppress
    .source = Hundepool and others (2012), Statistical Disclosure Control (local suppression); l-diversity: Machanavajjhala and others (2007)
    .keeps = every value but a few of quasi-identifiers; other columns exactly
    .hides = which of k rows is a person’s, from attackers who know the quasi-identifiers and nothing else

# A warning of cover.

few-rows = The table has few rows for its columns.{ $pairs ->
    [0] {""}
   *[other] {" "}Of { $pairs } correlations between numbers the { $adjusted } strongest are adjusted to the original’s; the others shrink towards zero.
  }{ $price ->
    [usual] {""}
   *[other] {" "}A split of a tree must gain { $price } times its cost instead of { $usual }, so weaker rules are lost.
  } Release fewer columns, or more rows.

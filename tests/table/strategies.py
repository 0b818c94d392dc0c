"""Random text tables: what may stand in a CSV file, as people write it."""

from hypothesis import strategies as st

plain = st.text(st.characters(codec="utf-8", exclude_characters="\0\r", exclude_categories=["Cs"]), max_size=8)
names = st.text(
    st.characters(codec="utf-8", exclude_characters="\0\r\ufeff", exclude_categories=["Cs", "Cc"]),
    min_size=1,
    max_size=8,
)
missing = st.sampled_from(["", "?", "NA", "NaN", " ? "])
integers = st.integers(-(10**6), 10**6).map(str)
decimals = st.decimals(-1000, 1000, places=2, allow_nan=False, allow_infinity=False).map(str)
floats = st.floats(allow_nan=False, allow_infinity=False).map(repr)
dates = st.dates().map(lambda day: day.isoformat())
levels = st.sampled_from(["yes", "no", "it's", 'say "x"', "a,b", "two\nlines", " padded ", "ß", "Zürich", "😀"])
cells = st.sampled_from([integers, decimals, floats, dates, levels, plain])


@st.composite
def text_tables(draw, min_rows=2, max_rows=12, max_columns=4, cell=cells):
    """A header and rows of text."""
    rows = draw(st.integers(min_rows, max_rows))
    header = draw(
        st.lists(
            names.filter(lambda name: name.strip() and not name.startswith('"')),
            min_size=1,
            max_size=max_columns,
            unique=True,
        )
    )
    columns = []
    for _ in header:
        one = draw(cell)
        columns.append(draw(st.lists(st.one_of(one, one, one, missing), min_size=rows, max_size=rows)))
    return header, [list(row) for row in zip(*columns, strict=True)]

"""Project files: every key checked in one line, comments that survive changes, no secrets, no half-written file."""

import os
import tomllib
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafcover.engine.project_file import (
    FILE_NAME,
    edited,
    find_project,
    parse_project,
    update_project,
    write_project,
)
from leafcover.errors import LeafcoverError, ProjectError

TEXT = """# mine
version = 1
title = "people"  # the name
audience = "?"  # who
target = "?"

# about the input
[input]
file = "people.csv"  # from the register
category = [
  "zip",  # has zeros
]

[columns]
"pay slip" = ""  # money
name = "drop"

[method]
recipe = "cover"  # the default
settings = { k = 20, order = ["a,b", "c"] }

[limits]
max_risk = 0.1  # agreed with the DPO
"""


def refusal(text):
    """The line with which a text is refused."""
    with pytest.raises(LeafcoverError) as caught:
        parse_project(text, "p.toml")
    line = str(caught.value)
    assert "\n" not in line
    assert "p.toml" in line
    return line


def test_a_file_is_read_with_every_key_checked():
    found = parse_project(TEXT)
    assert found.undecided == ("audience", "target")
    assert (found.chosen_target, found.chosen_audience) == (None, None)
    assert found.with_role("drop") == ("name",)
    assert found.method.settings == {"k": 20, "order": ["a,b", "c"]}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("version = 1", "input is missing"),
        ("version = 1\n[input]\nfile = 5", "input.file must be text in quotes. Got 5."),
        ('version = 1\n[input]\nfile = "a\\u0000b"', "input.file must be one line of text"),
        ("version = 2\n[input]\nfile = 'a'", "version must be 1. Got 2."),
        ("[input]\nfile = 'a'", "version is missing"),
        ("version = 1\ninput = 'a'", "input must be a table"),
        ("version = 1\ntargt = 'a'\n[input]\nfile = 'a'", "Did you mean 'target'?"),
        ("version = 1\n[input]\nfile = 'a'\n[method]\nrecpie = 'a'", "Did you mean 'recipe'?"),
        ("version = 1\n[input]\nfile = 'a'\n[columns]\nage = 'key'", "columns.age must be 'drop', 'unchanged'"),
        ("version = 1\n[input]\nfile = 'a'\n[method]\nshare = '5'", "method.share must be a whole number"),
        ("version = 1\n[input]\nfile = 'a'\n[method]\nshare = true", "method.share must be a whole number"),
        ("version = 1\n[input]\nfile = 'a'\n[method]\nrules = 'a <= b'", "method.rules must be a list"),
        ("version = 1\n[input]\nfile = 'a'\n[limits]\nmax_risk = 2", "limits.max_risk"),
        ("version = 1\n[input]\nfile = 'a'\n[limits]\nmax_risk = nan", "limits.max_risk"),
        ("version = 1\naudience = 'all'\n[input]\nfile = 'a'", "audience"),
        ("version = 1\n[input]\nfile = 'a'\n[method]\nplan = 'p'\nshare = 5", "plan cannot be combined with share"),
        ("version = 1\nversion = 1", "not valid TOML"),
        ("x = " + "[" * 5000, "p.toml"),
        ("version = 1\n[input]\nfile = 'postgresql://me:hush@host/db'", "input.file has a password"),
        ("version = 1\nseed = 5\n[input]\nfile = 'a'", "seed would be a secret"),
        ("version = 1\n[input]\nfile = 'a'\n[output]\nkey = 'c0ffee'", "output.key would be a secret"),
    ],
)
def test_a_mistake_is_one_line_with_file_and_key(text, words):
    assert words in refusal(text)


def test_a_secret_is_not_repeated():
    for text in (
        "version = 1\n[input]\nfile = 'postgresql://me:hush@host/db'",
        "version = 1\nseed = 'hush'\n[input]\nfile = 'a'",
    ):
        assert "hush" not in refusal(text)


def test_a_column_may_be_called_like_a_secret():
    found = parse_project("version = 1\n[input]\nfile = 'a'\n[columns]\nkey = 'drop'\nseed = ''")
    assert found.with_role("drop") == ("key",)


def comments(text):
    """The comments of a text, in order."""
    return [line.split("#", 1)[1].strip() for line in text.splitlines() if "#" in line]


def test_changes_keep_comments_and_everything_else():
    changes = {
        "target": "income",
        "columns": {"name": "unchanged", "new.one": "unit"},
        "method": {"settings": {"k": 50, "share": 7}, "rules": ["a <= b"]},
        "input": {"category": ["zip", "code"]},
        "date": "May",
    }
    text = edited(TEXT, changes)
    assert comments(text) == comments(TEXT)
    found = parse_project(text)
    assert found.target == "income"
    assert dict(found.columns) == {"pay slip": "", "name": "unchanged", "new.one": "unit"}
    assert found.method.settings == {"k": 50, "order": ["a,b", "c"], "share": 7}
    assert found.input.category == ("zip", "code")
    assert found.limits == parse_project(TEXT).limits


def test_a_removed_key_becomes_a_comment():
    text = edited(
        TEXT, {"title": None, "limits": {"max_risk": None}, "method": {"recipe": None, "settings": {"k": None}}}
    )
    assert "# max_risk = 0.1  # agreed with the DPO" in text
    assert '# title = "people"  # the name' in text
    assert edited(text, {"title": None, "nothing": None}) == text
    assert '# recipe = "cover"  # the default' in text
    found = parse_project(text)
    assert (found.limits.max_risk, found.method.recipe, found.method.settings) == (None, None, {"order": ["a,b", "c"]})


def test_a_change_to_the_same_value_changes_nothing():
    assert edited(TEXT, {"title": "people", "input": {"category": ["zip"]}, "method": {"settings": {"k": 20}}}) == TEXT


KEYS = st.text(st.characters(exclude_categories=("Cs",)), max_size=6)


@settings(max_examples=60, deadline=None)
@given(
    roles=st.dictionaries(KEYS, st.sampled_from(["", "drop", "unit"]), max_size=4),
    title=st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=8),
    note=st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=12),
)
def test_any_column_name_and_comment_survive(roles, title, note):
    text = edited(TEXT.replace("# mine", f"# {note}"), {"columns": roles, "title": title})
    found = parse_project(text)
    assert {**parse_project(TEXT).columns, **roles} == dict(found.columns)
    assert found.title == title
    assert text.startswith(f"# {note}")
    assert tomllib.loads(text)["limits"] == {"max_risk": 0.1}


def test_line_ends_survive(tmp_path):
    path = tmp_path / FILE_NAME
    path.write_bytes(TEXT.replace("\n", "\r\n").encode())
    update_project(path, {"target": "income"})
    assert path.read_bytes().count(b"\r\n") == TEXT.count("\n")


def test_the_file_is_found_here_or_above(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    assert find_project(tmp_path / "a" / "b") is None or not str(find_project(tmp_path)).startswith(str(tmp_path))
    (tmp_path / FILE_NAME).write_text(TEXT)
    found = find_project(tmp_path / "a" / "b")
    assert found.resolve() == (tmp_path / FILE_NAME).resolve()


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="needs to give a folder to another user")
def test_a_file_in_the_folder_of_another_user_is_not_read(tmp_path):
    (tmp_path / "theirs" / "mine").mkdir(parents=True)
    (tmp_path / "theirs" / FILE_NAME).write_text(TEXT)
    os.chown(tmp_path / "theirs", 12345, 12345)
    assert find_project(tmp_path / "theirs" / "mine") is None


def test_a_file_that_changed_meanwhile_is_not_overwritten(tmp_path):
    path = tmp_path / FILE_NAME
    path.write_text(TEXT)
    write_project(path, edited(TEXT, {"title": "new"}), base=TEXT)
    with pytest.raises(ProjectError, match="has changed since it was read"):
        write_project(path, TEXT, base=TEXT)
    assert 'title = "new"' in path.read_text()


def test_a_wrong_change_leaves_the_file_as_it_is(tmp_path):
    path = tmp_path / FILE_NAME
    path.write_text(TEXT)
    with pytest.raises(ProjectError):
        update_project(path, {"limits": {"max_risk": 7}})
    assert path.read_text() == TEXT
    assert [p.name for p in tmp_path.iterdir()] == [FILE_NAME]


def test_changes_at_the_same_time_all_arrive(tmp_path):
    path = tmp_path / FILE_NAME
    path.write_text(TEXT)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: update_project(path, {"columns": {f"c{n}": "drop"}}), range(16)))
    assert {f"c{n}" for n in range(16)} <= set(parse_project(path.read_text()).columns)


def test_a_file_that_is_no_text_is_one_line(tmp_path):
    for content in (b"\xff\xfe", b"version = 1\0"):
        (tmp_path / FILE_NAME).write_bytes(content)
        with pytest.raises(LeafcoverError) as caught:
            update_project(tmp_path / FILE_NAME, {"target": "x"})
        assert "\n" not in str(caught.value)

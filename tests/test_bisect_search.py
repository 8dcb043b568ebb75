"""The search itself: every monotone list and every list at all, with places that cannot be answered."""

from itertools import pairwise
from math import log2

from hypothesis import given
from hypothesis import strategies as st

from harness.bisect.search import Flip, search

PLACES = st.lists(st.sampled_from([True, False, None]), max_size=40)


def all_flips(places):
    answered = [(p, bad) for p, bad in enumerate(places) if bad is not None]
    return [Flip(before=a, after=b, to_bad=now) for (a, was), (b, now) in pairwise(answered) if was != now]


def asked(places, known=None, **more):
    """What the search finds, and which places it asked in which order."""
    order = []

    def ask(place):
        assert place not in order, "asked twice"
        order.append(place)
        return places[place]

    return search(len(places), ask, known, **more), order


@given(st.integers(0, 30), st.integers(0, 30), st.sets(st.integers(0, 59)), st.booleans())
def test_one_change_is_found_whatever_cannot_be_answered(low, high, broken, to_bad):
    places = [None if p in broken else (p >= low) == to_bad for p in range(low + high)]
    found, order = asked(places)
    assert found.flips == all_flips(places)
    assert len(order) <= 3 + log2(max(2, len(places))) + sum(p is None for p in places)


@given(PLACES)
def test_a_scan_finds_every_change(places):
    found, _ = asked(places, scan=True)
    assert found.flips == all_flips(places)


@given(PLACES, st.data())
def test_what_is_known_is_not_asked_and_more_than_one_known_change_is_a_scan(places, data):
    answered = [p for p, bad in enumerate(places) if bad is not None]
    known = {p: places[p] for p in data.draw(st.sets(st.sampled_from(answered)))} if answered else {}
    found, order = asked(places, known)
    assert not set(order) & set(known)
    changes = sum(known[a] != known[b] for a, b in pairwise(sorted(known)))
    if changes > 1:
        assert found.scanned
        assert found.flips == all_flips(places)
    assert set(found.flips) <= set(all_flips(places)), "a flip is between neighbours that were both answered"
    if len(answered) > 1 and places[answered[0]] != places[answered[-1]]:
        assert found.flips


def test_both_ends_come_first():
    assert asked([False, False, False, True, True])[1][:2] == [0, 4]


def test_between_equal_ends_nothing_is_looked_for():
    found, order = asked([True, False, True])
    assert (found.flips, order, found.scanned) == ([], [0, 2], False)


def test_a_bad_version_between_two_good_ones_that_is_known_is_a_scan():
    found, _ = asked([False, False, True, True, False], {2: True})
    assert [(f.before, f.after, f.to_bad) for f in found.flips] == [(1, 2, True), (3, 4, False)]


def test_what_could_not_be_asked_between_is_named():
    found, _ = asked([False, None, None, True])
    assert list(found.flips[0].between) == [1, 2]


def test_nothing_at_all_can_be_answered():
    assert asked([None, None])[0].flips == []
    assert asked([])[0].flips == []

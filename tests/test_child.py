"""The child half of a cell: arguments that do not fit are our fault."""

import pytest

from harness import child


def test_arguments_that_fit_are_passed_on():
    child.fit(lambda x, w=1: x * w, {"x": 1})


@pytest.mark.parametrize("arguments", [{}, {"y": 1}, {"x": 1, "y": 1}])
def test_arguments_that_do_not_fit_are_ours(arguments):
    def forward(x):
        return x

    with pytest.raises(child.BadRunFile, match="forward: "):
        child.fit(forward, arguments)


def test_a_callable_that_hides_its_arguments_is_asked_as_it_is():
    with pytest.raises(ValueError, match="no signature"):
        child.inspect.signature(dict)
    child.fit(dict, {"x": 1})

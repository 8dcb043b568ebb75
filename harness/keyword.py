"""`-k` outside of pytest: the same expressions over a cell's name as `run -k`; careful that what cannot be read is an error, never an empty choice."""

from __future__ import annotations

from collections.abc import Callable

from _pytest.mark.expression import Expression  # pytest has no public name for it

from harness.errors import BadInput


def matcher(keyword: str) -> Callable[[str], bool]:
    """Whether a cell's address fits the expression; every one does where there is none. Case does not matter.

    Raises:
        BadInput: it is no expression.
    """
    if not keyword:
        return lambda _: True
    try:
        expression = Expression.compile(keyword)
    except SyntaxError as bad:
        raise BadInput(f"-k {keyword!r}: {bad}", "words joined by and, or, not", 'for example: -k "rms_norm and not compiled"') from None

    def fits(address: str) -> bool:
        name = address.replace(" ", "-").lower()

        def matches(word: str, /, **_: str | int | bool | None) -> bool:
            return word.lower() in name

        return expression.evaluate(matches)

    return fits

"""The bodies of claims are called here: what one returns is not lost, what is pending is not run.

Judging knows from here when a body runs: a report that comes meanwhile is one of its subtests.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Generator, Mapping
from typing import TYPE_CHECKING, Any

import pytest

from assay.errors import ClaimError

if TYPE_CHECKING:
    from assay.ledger.claim import Claim
    from assay_pytest.judging import Judging


class Bodies:
    """Calls the bodies of claims that are plain functions or methods."""

    def __init__(self, judging: Judging, others: frozenset[pytest.Function]) -> None:
        """Tell `judging` when the body of a claim runs; what `others` do is watched elsewhere."""
        self._judging = judging
        self._others = others

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        """Call the body of a claim, unless it is pending: what that would read does not exist yet."""
        __tracebackhide__ = True
        judging = self._judging
        if judging.claim is None or judging.item is not pyfuncitem:
            return None
        if judging.claim.mark.pending:
            return True
        if self._others and pyfuncitem in self._others:
            return None
        given = pyfuncitem.funcargs
        names = pyfuncitem._fixtureinfo.argnames  # as every plugin that calls test functions itself
        judging.inside = True
        try:
            _nothing(pyfuncitem.obj(**{name: given[name] for name in names}))
        finally:
            judging.inside = False
        return True


class OtherBodies:
    """Watches the bodies of claims that something else calls: methods of unittest, coroutines."""

    def __init__(self, judging: Judging, items: frozenset[pytest.Function]) -> None:
        """Watch the bodies of `items`."""
        self._judging = judging
        self._items = items

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        """Let the body of a claim run where what it returns is seen."""
        if not isinstance(item, pytest.Function) or item not in self._items:
            return (yield)
        body = item.obj
        item.obj = _watched(body)
        if _of_unittest(item) and _is_async(body):  # its case looks the method up by name
            setattr(item.instance, item.name, item.obj)
        self._judging.inside = True
        try:
            return (yield)
        finally:
            self._judging.inside = False
            item.obj = body


def called_by_others(claims: Mapping[pytest.Item, Claim]) -> frozenset[pytest.Function]:
    """Tests of claims whose bodies pytest does not call as plain functions."""
    functions = [item for item in claims if isinstance(item, pytest.Function)]
    return frozenset(item for item in functions if _is_async(item.obj) or _of_unittest(item))


def _of_unittest(item: pytest.Function) -> bool:
    case = getattr(sys.modules.get("unittest.case"), "TestCase", ())
    return not isinstance(item.parent, pytest.Module) and item.cls is not None and issubclass(item.cls, case)


def _is_async(body: Callable[..., Any]) -> bool:
    code = getattr(body, "__code__", None)
    if code is not None:
        return bool(code.co_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR))
    return inspect.iscoroutinefunction(body) or inspect.isasyncgenfunction(body)


def _watched(body: Callable[..., Any]) -> Callable[..., Any]:
    if inspect.iscoroutinefunction(body):

        @functools.wraps(body)
        async def awaited(*args: Any, **given: Any) -> None:
            _nothing(await body(*args, **given))

        return awaited

    @functools.wraps(body)
    def called(*args: Any, **given: Any) -> None:
        _nothing(body(*args, **given))

    return called


def _nothing(value: object) -> None:
    __tracebackhide__ = True
    if value is not None:
        raise ClaimError(f"the test returns a {type(value).__name__}, which nothing looks at: write assert, not return")

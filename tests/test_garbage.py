"""The garbage collector during a certificate: the caller's settings come back, whatever happens."""

import contextlib
import gc

import pytest
from excerpt import one_in

from uat_jax.decide import garbage
from uat_jax.decide.garbage import SELDOM, old_objects_left_alone


@pytest.mark.parametrize(
    ("thresholds", "error"),
    one_in(2, [((700, 10, 10), None), ((700, 10, 1000), None), ((0, 10, 10), ValueError("an error of the caller"))]),
)
def test_the_settings_come_back(monkeypatch, thresholds, error):
    monkeypatch.setattr(garbage, "_frozen", False)
    before, frozen = gc.get_threshold(), gc.get_freeze_count()
    gc.unfreeze()
    gc.set_threshold(*thresholds)
    try:
        with contextlib.suppress(ValueError), old_objects_left_alone():
            changed = (*thresholds[:2], max(thresholds[2], SELDOM))
            assert gc.get_freeze_count() and gc.get_threshold() == changed
            with old_objects_left_alone():  # a certificate in a certificate
                assert gc.get_threshold() == changed
            assert gc.get_freeze_count()
            if error:
                raise error
        assert gc.get_threshold() == thresholds and not gc.get_freeze_count()
    finally:
        gc.set_threshold(*before)
        if frozen:
            gc.freeze()


def test_frozen_objects_of_the_caller_stay_frozen_and_are_counted_once(monkeypatch):
    counts = iter([1])
    monkeypatch.setattr(garbage, "_frozen", False)
    monkeypatch.setattr(garbage.gc, "get_freeze_count", lambda: next(counts))
    with old_objects_left_alone(), old_objects_left_alone():
        pass
    with old_objects_left_alone():
        pass
    monkeypatch.undo()
    monkeypatch.setattr(garbage, "_frozen", False)
    frozen, before = gc.get_freeze_count(), gc.get_threshold()
    gc.freeze()
    try:
        with old_objects_left_alone():
            assert gc.get_threshold() == before
        assert gc.get_freeze_count()
    finally:
        if not frozen:
            gc.unfreeze()

"""Several devices and several processes have a time only if they find what one finds."""

import jax.numpy as jnp
import numpy as np
import pytest

from uat_jax.bench.case import WrongAnswerError
from uat_jax.bench.cases import devices, processes
from uat_jax.bench.interpreters import free_address, run, run_together
from uat_jax.decide.hosts import Hosts
from uat_jax.decide.settings import DTYPES

(CASE,) = devices.CASES

TWINS = {
    "one bit": devices.one_bit_off,
    "a trial missing": lambda answer: answer[:-1],
    "trials exchanged": lambda answer: answer[::-1],
    "not a number": lambda answer: answer * np.float32(np.nan),
}


@pytest.mark.parametrize("dtype", DTYPES)
def test_one_bit_is_one_bit(dtype):
    right = np.ones(3, dtype)
    wrong = devices.one_bit_off(right)
    assert np.array_equal(wrong[:2], right[:2]) and wrong.dtype == right.dtype
    assert wrong[2] - right[2] == jnp.finfo(dtype).eps


@pytest.mark.parametrize("twin", TWINS)
def test_what_one_device_does_not_find_has_no_time(twin):
    experiment = CASE.build(**CASE.quick[0])
    for name, program in experiment.programs.items():
        answer = program.function()
        assert answer.shape == (program.trials, CASE.quick[0]["width"])
        experiment.check(name, answer)
        with pytest.raises(WrongAnswerError):
            experiment.check(name, TWINS[twin](answer))


def test_three_devices_are_measured_against_one():
    words = ("-m", "uat_jax", "bench", "devices", "--quick")
    ended = run("-c", f"import os, runpy, sys; {FORCE}; sys.argv = {list(words)[1:]}; {RUN}")
    found = [f"{count} device" in ended.printed for count in (1, 2, 3, 4)]
    assert ended.code == 0 and found == [True, True, True, False], ended


FORCE = "os.environ['XLA_FLAGS'] = '--xla_force_host_platform_device_count=3'"
RUN = "runpy.run_module('uat_jax', run_name='__main__')"


@pytest.mark.parametrize(("most", "wanted"), [(1, [1]), (2, [1, 2]), (3, [1, 2, 3]), (4, [1, 2, 4]), (6, [1, 2, 4, 6])])
def test_the_numbers_of_devices(most, wanted):
    assert devices.counts(most) == wanted


def test_another_certificate_than_that_of_one_process_has_no_time(monkeypatch):
    text = '{"settings": {"trials": 4}}'
    monkeypatch.setattr(processes, "decide", lambda count, *_: text)
    experiment = processes.build(2, 4, "float32")
    assert list(experiment.programs) == ["1 process", "2 processes"]
    experiment.check("2 processes", text)
    for wrong in (experiment.wrong(text), "", text.replace("4", "5")):
        with pytest.raises(WrongAnswerError, match="2 processes: another certificate"):
            experiment.check("2 processes", wrong)


def test_a_process_that_fails_has_no_time():
    with pytest.raises(WrongAnswerError, match="`uat-jax prove` by 1: uat-jax: 0 trials are not possible"):
        processes.decide(1, 0, "float32")


def test_interpreters_that_run_at_once():
    found = run_together([("-c", f"import sys; print({k}); sys.exit('no ' * {k})") for k in range(3)])
    assert [(ended.code, ended.printed, ended.complaint) for ended in found] == [
        (1, "0", ""),
        (1, "1", "no"),
        (1, "2", "no no"),
    ]
    assert [ended.last_words for ended in found] == ["0", "no", "no no"]


def test_a_warning_is_no_answer():
    ended = run("-c", "import warnings; warnings.warn('look out'); print('done')")
    assert (ended.code, ended.printed) == (0, "done") and "look out" in ended.complaint


def test_a_free_address_is_one_that_processes_can_meet_at():
    assert Hosts(free_address(), 2, 0).coordinator

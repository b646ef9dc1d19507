"""Certificates: what is saved can be read, decided again, and never half-written or mistaken for something else."""

import json
from concurrent.futures import ThreadPoolExecutor

import jax
import pytest

import uat_jax as uj
from uat_jax import devices
from uat_jax.decide.certificate import VERSION, write_atomically
from uat_jax.errors import InputError, MismatchError
from uat_jax.numbers.prime_fields.prime_field import limbs_in_use

CPU = jax.local_devices(backend="cpu")[0]


@pytest.fixture(scope="module")
def certificate():
    return uj.prove("updates.boxes", dtypes=())


def test_round_trip(certificate, tmp_path):
    path = certificate.save(tmp_path / "deep" / "c.json")
    again = uj.load(path)
    assert again.to_json() == certificate.to_json()
    assert again.verdict is uj.Verdict.REFUTED
    assert list(tmp_path.rglob("*")) == [tmp_path / "deep", path]  # no temporary file is left


def test_hosts_with_the_same_number_of_a_process_write_one_file(tmp_path):
    """Two threads have the same number: neither takes away what the other is writing."""
    write = lambda text: [write_atomically(tmp_path / "file", text * 1000) for _ in range(200)]
    with ThreadPoolExecutor(2) as threads:
        assert all(threads.map(write, "ab"))
    assert (tmp_path / "file").read_text() in ("a" * 1000, "b" * 1000)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_everything_needed_to_decide_it_again_is_there(certificate):
    body = json.loads(certificate.to_json())
    assert set(body["settings"]) == {
        "depth",
        "dtypes",
        "trials",
        "seed",
        "device",
        "precision",
        "weights",
        "inputs",
    }
    assert {"uat_jax", "jax", "jaxlib", "numpy", "sympy", "python-flint", "python"} <= set(body["environment"])
    assert body["claim"]["hypotheses"] and _example(body)["inputs"]


# --- in what numbers ------------------------------------------------------------------------------------------------

NUMERICS = ("device_platform", "device_kind", "matmul_precision")
ELSEWHERE = dict(zip(NUMERICS, ("gpu", "NVIDIA H100 80GB HBM3", "default"), strict=True))


@pytest.mark.parametrize("precision", ["default", "high", "highest"])
def test_device_and_precision_are_in_a_certificate_without_floats(precision):
    stated = uj.prove("lemma-1", dtypes=(), precision=precision).environment
    device = devices.default_device()
    assert [stated[name] for name in NUMERICS] == [device.platform, device.device_kind, precision]


def test_the_device_is_that_of_the_settings(monkeypatch):
    """It is looked at while that device is in force."""
    seen = []
    monkeypatch.setattr(devices, "default_device", lambda: seen.append(jax.config.values["jax_default_device"]) or CPU)
    uj.prove("lemma-1", dtypes=(), device="cpu")
    assert seen == [CPU]


LIMBS = {
    "a chain of equations": "lemma-1",
    "two programs": "attention.matrix",
    "two functions": "attention.slices-embed",
    "a scan": "serial.scan",
    "a network in plain JAX": "real.rms-norm",
}


@pytest.mark.parametrize("of", LIMBS)
def test_all_evidence_from_prime_fields_says_in_what_limbs(of):
    found = [e for e in uj.prove(LIMBS[of], dtypes=()).evidence if e.method == "prime fields"]
    assert found and all(e.figures["limbs"] == limbs_in_use() for e in found)


def _without_numerics(environment):
    """As files were before they said this."""
    return {name: text for name, text in environment.items() if name not in NUMERICS}


STATED = {"older": _without_numerics, "elsewhere": lambda environment: environment | ELSEWHERE}


@pytest.mark.parametrize("stated", STATED)
def test_recheck_compares_no_device(certificate, tmp_path, stated):
    """What is found says where it was decided now; a verdict that is not found again is refused all the same."""
    body = json.loads(certificate.to_json())
    body["environment"] = STATED[stated](body["environment"])
    path = write_atomically(tmp_path / "c.json", json.dumps(body))
    assert uj.load(path).environment == body["environment"] != certificate.environment
    assert uj.recheck(path).environment == certificate.environment
    write_atomically(path, json.dumps(body | {"verdict": "PROVED"}))
    with pytest.raises(MismatchError, match="decided again it is REFUTED"):
        uj.recheck(path)


def test_a_claim_decided_on_a_missing_device_is_decided_on_another(certificate, tmp_path):
    body = json.loads(certificate.to_json())
    body["settings"]["device"] = "tpu"
    path = write_atomically(tmp_path / "c.json", json.dumps(body))
    with pytest.raises(InputError, match="got device 'tpu', which JAX does not find here; choose another"):
        uj.recheck(path)
    assert uj.recheck(path, device="cpu").settings["device"] == "cpu"


# --- decided again --------------------------------------------------------------------------------------------------


def test_recheck_decides_again(certificate, tmp_path):
    path = certificate.save(tmp_path / "c.json")
    assert uj.recheck(path).verdict == uj.recheck(certificate).verdict == certificate.verdict


@pytest.mark.parametrize("verdict", ["PROVED", "AGREES", "UNKNOWN"])
def test_recheck_refuses_a_verdict_that_is_not_found_again(certificate, tmp_path, verdict):
    body = json.loads(certificate.to_json()) | {"verdict": verdict}
    path = write_atomically(tmp_path / "c.json", json.dumps(body))
    with pytest.raises(MismatchError, match=f"the certificate says {verdict}; decided again it is REFUTED"):
        uj.recheck(path)


def _example(body):
    """The first counterexample in a certificate."""
    return next(e["example"] for e in body["evidence"] if e["example"])


FORGERIES = {
    "claim": lambda body: body["claim"].update(printed="1 = 1"),
    "expected": lambda body: body.update(expected="PROVED"),
    "counterexample": lambda body: _example(body)["inputs"][0].update(values=99),
    "evidence": lambda body: body.update(evidence=[]),
}


@pytest.mark.parametrize("part", FORGERIES)
def test_recheck_refuses_what_it_does_not_find_again(certificate, tmp_path, part):
    body = json.loads(certificate.to_json())
    FORGERIES[part](body)
    path = write_atomically(tmp_path / "c.json", json.dumps(body))
    with pytest.raises(MismatchError, match=f"the certificate's {part} is not"):
        uj.recheck(path)


DAMAGE = {
    "not JSON": lambda text: text[:-20],
    "not a certificate": lambda text: json.dumps({"schema": "something else"}),
    "no schema": lambda text: json.dumps([1, 2]),
    "schema version": lambda text: json.dumps(json.loads(text) | {"version": VERSION + 1}),
    "schema version -3": lambda text: json.dumps(json.loads(text) | {"version": -3}),
    "claim is ": lambda text: json.dumps(json.loads(text) | {"claim": [1]}),
    "settings is None": lambda text: json.dumps(json.loads(text) | {"settings": None}),
    "passes is 'yes'": lambda text: json.dumps(json.loads(text) | {"passes": "yes"}),
    "schema version None": lambda text: json.dumps(json.loads(text) | {"version": None}),
    "damaged: missing": lambda text: json.dumps({k: v for k, v in json.loads(text).items() if k != "evidence"}),
    "superfluous fields extra": lambda text: json.dumps(json.loads(text) | {"extra": 1}),
    "damaged": lambda text: json.dumps(json.loads(text) | {"verdict": "CERTAIN"}),
    "damaged: ": lambda text: json.dumps(json.loads(text) | {"evidence": [{"method": "x"}]}),
}


@pytest.mark.parametrize("message", DAMAGE)
def test_damaged_files_are_refused_in_one_line(certificate, tmp_path, message):
    path = write_atomically(tmp_path / "c.json", DAMAGE[message](certificate.to_json()))
    pattern = {"no schema": "no schema", "not a certificate": "no schema"}.get(message, message)
    with pytest.raises(InputError, match=pattern) as caught:
        uj.load(path)
    assert "\n" not in str(caught.value)


def test_damaged_settings_are_refused(certificate):
    body = json.loads(certificate.to_json())
    body["settings"]["colour"] = "red"
    wrong = uj.Certificate(**{**vars(certificate), "settings": body["settings"]})
    with pytest.raises(InputError, match="settings are damaged"):
        uj.recheck(wrong)


def test_a_folder_that_cannot_be_written(certificate, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write .*choose a folder"):
        certificate.save(tmp_path / "file" / "c.json")


def test_missing_file(tmp_path):
    with pytest.raises(InputError, match="cannot read"):
        uj.load(tmp_path / "nothing.json")

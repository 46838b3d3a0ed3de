"""The accountant from Python: the numbers of the command, sound, and errors with the library's sentence."""

import json
import math
import os
import subprocess

import pytest

import tacit
from tacit import account

COMMAND = os.path.join(os.environ["TACIT_BUILD"], "tacit")


def ask(*arguments):
    return json.loads(subprocess.run([COMMAND, "account", *arguments, "--json"], capture_output=True, check=True).stdout)


def test_scales_are_those_of_the_command():
    assert account.scale(epsilon=1, delta=1e-6, l2=1) == ask("scale", "--epsilon", "1", "--delta", "1e-6")["scale"]
    # pure: b = l1 / epsilon, and count releases share it
    assert account.scale(epsilon=0.5, l1=2, count=3) == pytest.approx(12, rel=1e-12)


def test_a_scale_gives_what_was_asked_for():
    for epsilon, delta, l2 in ((0.1, 1e-5, 3.0), (1, 1e-6, 1.0), (10, 1e-9, 0.5)):
        s = account.scale(epsilon=epsilon, delta=delta, l2=l2)
        g = account.guarantee(account.gaussian(l2, s), delta=delta)
        assert g.epsilon <= epsilon * (1 + 1e-9)
        # a thousandth less noise is too little
        assert account.guarantee(account.gaussian(l2, 0.999 * s), delta=delta).epsilon > epsilon


def test_composition_by_hand():
    # Gaussian: mu adds in squares. 9 releases of mu 1/3 are 1-GDP.
    g = account.guarantee(account.gaussian(1, 3, count=9), delta=1e-6)
    assert g.mu == pytest.approx(1, rel=1e-12)
    assert g.epsilon == pytest.approx(account.gdp_epsilon(1, 1e-6), rel=1e-9)
    assert account.guarantee([account.black_box(0.5), account.laplace(1, 4)], delta=0).epsilon == pytest.approx(0.75)
    mixed = account.guarantee([account.gaussian(1, 5), account.laplace(1, 20)], delta=1e-6)
    assert mixed.epsilon_interval[0] <= mixed.epsilon == mixed.epsilon_interval[1]
    at = account.guarantee(account.gaussian(1, 3), epsilon=1.0)
    assert at.delta == pytest.approx(account.gdp_delta(1 / 3, 1.0), rel=1e-9)


def test_conversions_go_both_ways():
    mu = account.gdp_mu(1, 1e-6)
    assert account.gdp_delta(mu, 1) <= 1e-6
    assert account.gdp_epsilon(mu, 1e-6) == pytest.approx(1, rel=1e-9)
    assert account.zcdp_delta(0.1, account.zcdp_epsilon(0.1, 1e-6)) <= 1e-6 * (1 + 1e-6)
    assert math.isinf(account.gdp_epsilon(1, 0))


def test_errors_are_exceptions_with_the_sentence():
    with pytest.raises(tacit.BadEpsilonError, match="epsilon is -1, expected a finite number >= 0") as found:
        account.scale(epsilon=-1, delta=1e-6, l2=1)
    assert isinstance(found.value, tacit.Error) and isinstance(found.value, ValueError)
    assert found.value.status == "BAD_EPSILON"
    with pytest.raises(tacit.BadDeltaError):
        account.scale(epsilon=1, delta=2, l2=1)
    with pytest.raises(tacit.BadSensitivityError):
        account.scale(epsilon=1, delta=1e-6, l2=0)
    with pytest.raises(TypeError, match="one sensitivity"):
        account.scale(epsilon=1, delta=1e-6)
    with pytest.raises(TypeError, match="one of delta and epsilon"):
        account.guarantee([])


def test_every_status_has_a_class():
    page = os.path.join(os.environ["TACIT_SOURCE"], "include/tacit/status.h")
    names = [line.split("(")[1].split(",")[0] for line in open(page) if line.startswith("    X(")]
    assert set(names) - {"OK"} == set(tacit._tacit.errors)
    for name, cls in tacit._tacit.errors.items():
        assert issubclass(cls, tacit.Error) and cls.status == name and cls.__doc__
        assert getattr(tacit, cls.__name__) is cls

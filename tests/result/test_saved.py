"""Files that an earlier version saved (format 3) still load, and predict what they predicted there."""

import json
from pathlib import Path

import numpy as np
import pytest

import hiddenphysics as hp

SAVED = Path(__file__).parent / "saved"
EXPECTED = json.loads((SAVED / "expected.json").read_text())


@pytest.mark.parametrize("model", EXPECTED)
def test_an_earlier_file_predicts_what_it_predicted(model):
    fit, told = hp.load(SAVED / f"{model}.nc"), EXPECTED[model]
    assert fit.model == model
    assert (fit.values, str(fit.status)) == (told["values"], told["status"])
    for text, (mean, std) in told["predictions"].items():
        ours = fit.predict(text, np.array(told["x"]), t=told["t"])
        size = np.max(np.abs(mean))
        np.testing.assert_allclose(ours[0], mean, rtol=0, atol=1e-7 * size)
        np.testing.assert_allclose(ours[1], std, rtol=1e-3, atol=1e-7 * size)


def test_an_earlier_file_is_saved_again_and_loads(tmp_path):
    old = hp.load(SAVED / "flow.nc")
    new = hp.load(old.save(tmp_path / "again.nc"))
    x = np.linspace(1.0, 5.0, 4)
    np.testing.assert_array_equal(old.predict("u", x, t=0.05), new.predict("u", x, t=0.05))
    assert str(old) == str(new)

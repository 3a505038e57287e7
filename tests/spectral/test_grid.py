"""Grids: lengths of transforms, against SciPy's."""

from scipy.fft import next_fast_len

from hiddenphysics.spectral import fast_length


def test_lengths_of_quick_transforms_are_those_of_scipy():
    for least in (*range(1, 2000), 8191, 65537, 10**6 + 3):
        assert fast_length(least) == next_fast_len(least)

"""Systems that several tests of the package solve."""

import numpy as np
import scipy.sparse as sp

import weft

ROWS = 3000
IS_ALONE = weft.job().size == 1


def matrix():
    return sp.csr_matrix(sp.diags([-0.9, -1, 4.5, -1, -0.9], [-50, -1, 0, 1, 50],
                                  shape=(ROWS, ROWS)))


def right_hand_side():
    return np.random.default_rng(1).random(ROWS)


def grid_matrix():
    """The 5-point stencil on 30 x 30 points."""
    line = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(30, 30))
    return sp.csr_matrix(sp.kronsum(line, line))


def grid_eigenvalues():
    line = 2 - 2 * np.cos(np.pi * np.arange(1, 31) / 31)
    return np.sort(np.add.outer(line, line).ravel())

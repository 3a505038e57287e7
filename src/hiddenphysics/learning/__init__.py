"""Tools of learning that know no model: first guess, smoothing, tuning, rounds, uncertainty, criticism, verdict."""

from hiddenphysics.learning.criticism import WORDS, Criticism
from hiddenphysics.learning.first_guess import MOST_POINTS, Guess, Source, first_guess, smoothed_snapshots
from hiddenphysics.learning.fit_thread import in_time, is_left_computing
from hiddenphysics.learning.heterogeneity import Heterogeneity, Share, heterogeneity
from hiddenphysics.learning.importance import RELIABLE, Weights, importance_weights
from hiddenphysics.learning.missing_terms import HIGHEST, candidate_terms, term_label, term_scores
from hiddenphysics.learning.noise_checks import FEWEST_TIMES, Coherent, LeftOver, criticise
from hiddenphysics.learning.nuts import AGREED, Density, Posterior, Sampled, r_hat, sample
from hiddenphysics.learning.optimiser import TIGHT, Objective, Optimum, is_free, minimise, refine
from hiddenphysics.learning.outliers import mixture
from hiddenphysics.learning.rounds import rounds
from hiddenphysics.learning.smoothing import (
    LEAST_NOISE,
    MANY,
    SmoothedField,
    Smoother,
    climb,
    known_variance,
    prior_of,
    seen_in,
    smooth,
)
from hiddenphysics.learning.stage_line import stage_line
from hiddenphysics.learning.tuning import Tuned, tune
from hiddenphysics.learning.uncertainty import Laplace, laplace, positive_inverse
from hiddenphysics.learning.verdict import Status, Verdict, at_bound, gravest, undetermined, unfinished, when
from hiddenphysics.learning.watch import Progress, Stopped, Watch, keep, silent
from hiddenphysics.learning.weak_regression import WeakGuess, weak_guess

__all__ = [
    "AGREED",
    "FEWEST_TIMES",
    "HIGHEST",
    "LEAST_NOISE",
    "MANY",
    "MOST_POINTS",
    "RELIABLE",
    "TIGHT",
    "WORDS",
    "Coherent",
    "Criticism",
    "Density",
    "Guess",
    "Heterogeneity",
    "Laplace",
    "LeftOver",
    "Objective",
    "Optimum",
    "Posterior",
    "Progress",
    "Sampled",
    "Share",
    "SmoothedField",
    "Smoother",
    "Source",
    "Status",
    "Stopped",
    "Tuned",
    "Verdict",
    "Watch",
    "WeakGuess",
    "Weights",
    "at_bound",
    "candidate_terms",
    "climb",
    "criticise",
    "first_guess",
    "gravest",
    "heterogeneity",
    "importance_weights",
    "in_time",
    "is_free",
    "is_left_computing",
    "keep",
    "known_variance",
    "laplace",
    "minimise",
    "mixture",
    "positive_inverse",
    "prior_of",
    "r_hat",
    "refine",
    "rounds",
    "sample",
    "seen_in",
    "silent",
    "smooth",
    "smoothed_snapshots",
    "stage_line",
    "term_label",
    "term_scores",
    "tune",
    "undetermined",
    "unfinished",
    "weak_guess",
    "when",
]

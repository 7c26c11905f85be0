"""What the answer to a question about alternatives would tell, judged by draws of the weights."""

from __future__ import annotations

from collections.abc import Collection
from math import comb
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax, xlogy

from rulelens.preference.table import BoolArray, FloatArray

Singles: TypeAlias = NDArray[np.float32]

_OWN_BITS = 0.1
"""Weight of the answer's own bits beside what it tells about the goal: it decides on plateaus."""

_SETTLED = 0.004
_NO_BITS = 1e-6


def entropy(p: FloatArray) -> FloatArray:
    """Bits of a yes/no answer with probability p of yes.

    Examples
    --------
    >>> entropy(np.array([0.0, 0.5])).tolist()
    [0.0, 1.0]
    """
    q = np.clip(p, 1e-12, 1 - 1e-12)
    bits = -(q * np.log2(q) + (1 - q) * np.log2(1 - q))
    return np.where((p <= 0) | (p >= 1), 0.0, bits)


def order_worth(
    scores: FloatArray, noise: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Worth of asking about each pair for the whole ranking: open, and far apart if decided.

    Parameters
    ----------
    scores : array, shape (s, n)
        Scores of n alternatives under s draws.
    noise : array, shape (s,), optional
        How noisy answers are under each draw, see `membership_worth`.

    Returns
    -------
    worth, bits : arrays, one entry per pair i < j in the order of ``np.triu_indices(n, 1)``
        bits · sd(u_i - u_j), and the bits that the answer tells about the weights. Without noise
        these are H(p_ij), where p_ij is the share of draws in which i is higher.
    """
    gap, rounding = _gaps(scores)
    _, bits = _answers(gap, rounding, noise)
    spread = gap.std(axis=1, dtype=np.float64)
    return bits * np.where(spread > rounding, spread, 0.0), bits


def membership_worth(
    scores: FloatArray, members: BoolArray, noise: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Worth of asking about each pair for a set such as the top k.

    The answer's mutual information with "is l in the set?", summed over alternatives l, plus a
    tenth of the bits of the answer itself, which decides where no single answer moves the set.

    Parameters
    ----------
    scores : array, shape (s, n)
    members : bool array, shape (s, q)
        Whether each of q alternatives is in the set under each draw.
    noise : array, shape (s,), optional
        Scale of the noise under each draw, in units of scores: i is called better with
        probability 1 / (1 + exp(-(u_i - u_j) / noise)). An answer that is mostly noise, as that
        about two alternatives close together is, then tells little. By default answers are right.

    Returns
    -------
    worth, bits : arrays, one entry per pair i < j in the order of ``np.triu_indices(n, 1)``
        Bits are what the answer tells about the weights.
    """
    gap, rounding = _gaps(scores)
    n_draws = len(scores)
    yes, bits = _answers(gap, rounding, noise)
    # Members that are in or out for nearly every draw have next to nothing to tell.
    chance = members.mean(axis=0)
    inside = members[:, (chance > _SETTLED) & (chance < 1 - _SETTLED)].astype(np.float32)
    n_yes = yes.sum(axis=1, dtype=np.float64)[:, None]
    with_yes = (yes @ inside).astype(np.float64)
    total = inside.sum(axis=0, dtype=np.float64)
    p_yes = n_yes / n_draws
    if_yes = with_yes / np.maximum(n_yes, 1e-9)
    if_no = (total - with_yes) / np.maximum(n_draws - n_yes, 1e-9)
    left = p_yes * entropy(if_yes) + (1 - p_yes) * entropy(if_no)
    told = np.maximum((entropy(total / n_draws) - left).sum(axis=1), 0.0)
    # Pairs that never differ are no question, whatever rounding says.
    differ = (np.abs(gap) > rounding).any(axis=1)
    return np.where(differ & (bits > 0), told + _OWN_BITS * bits, 0.0), bits


def _gaps(scores: FloatArray) -> tuple[Singles, np.float32]:
    """Differences of all pairs (pairs, s) in single precision, and how much is only rounding."""
    i, j = np.triu_indices(scores.shape[1], 1)
    single = np.ascontiguousarray(scores.T, dtype=np.float32)
    rounding = np.float32(1e-6 * max(float(np.abs(single).max(initial=0.0)), 1e-30))
    return single[i] - single[j], rounding


def _answers(
    gap: Singles, rounding: np.float32, noise: FloatArray | None
) -> tuple[Singles, FloatArray]:
    """Chance of "the first is better" by pair and draw, and the bits told about the weights."""
    higher = (gap > rounding).astype(np.float32)
    plain = entropy(higher.mean(axis=1, dtype=np.float64))
    if noise is None:
        return higher, plain
    felt: Singles = np.asarray(gap / noise, dtype=np.float32)
    yes: Singles = np.asarray(expit(felt), dtype=np.float32)
    # Bits of a coin with log-odds x: (log(1 + e^-|x|) + |x| / (1 + e^|x|)) / log 2.
    size = np.abs(felt)
    coin = np.log1p(np.exp(-size)) + size * (1 - np.maximum(yes, 1 - yes))
    told = entropy(yes.mean(axis=1, dtype=np.float64))
    told -= coin.mean(axis=1, dtype=np.float64) / np.log(2.0)
    # Where all draws agree, an answer would tell about the noise alone.
    return yes, np.where((plain > 0) & (told > _NO_BITS), told, 0.0)


def chosen_best(scores: FloatArray, noise: FloatArray | None = None) -> FloatArray:
    """Chance of each of q alternatives to be called the best, shape (s, q), rows summing to 1.

    Parameters
    ----------
    scores : array, shape (s, q)
    noise : array, shape (s,), optional
        See `membership_worth`.

    Examples
    --------
    >>> chosen_best(np.array([[0.1, 0.3, 0.2]])).tolist()
    [[0.0, 1.0, 0.0]]
    >>> chosen_best(np.array([[0.1, 0.3, 0.2]]), np.array([0.1])).round(2).tolist()
    [[0.09, 0.67, 0.24]]
    """
    if noise is None:
        return np.asarray(np.eye(scores.shape[1])[scores.argmax(axis=1)])
    shares: FloatArray = softmax(scores / noise[:, None], axis=1)
    return shares


def completable(
    chosen: Collection[int], n: int, size: int, skipped: Collection[frozenset[int]]
) -> BoolArray:
    """Which of n alternatives can join `chosen` on the way to a set of `size` not yet skipped.

    One can where fewer skipped sets hold it and `chosen` than there are such sets at all. So a
    set that is built of such alternatives one by one never ends as a skipped one.

    Examples
    --------
    >>> completable([0, 1], 4, 3, [frozenset({0, 1, 2})]).tolist()
    [False, False, False, True]
    """
    taken = np.zeros(n, dtype=np.int64)
    for members in skipped:
        if len(members) == size and members.issuperset(chosen):
            taken[list(members)] += 1
    able = taken < comb(n - len(chosen) - 1, size - len(chosen) - 1)
    able[list(chosen)] = False
    return able


def telling_choice(
    scores: FloatArray,
    members: BoolArray,
    size: int,
    skipped: Collection[frozenset[int]] = (),
    noise: FloatArray | None = None,
) -> list[int]:
    """Set of alternatives whose "which is best?" tells most about membership in a set.

    Built greedily from the best pair; the worth of an answer is that of `membership_worth`.

    Parameters
    ----------
    scores : array, shape (s, n)
    members : bool array, shape (s, q)
    size : int
        Of the set; n if it is more.
    skipped : collection of frozensets of int
        Sets not to be built; some other set of `size` must be left.
    noise : array, shape (s,), optional
        See `membership_worth`.

    Examples
    --------
    >>> scores = np.random.default_rng(0).random((200, 6))
    >>> sorted(telling_choice(scores, scores > 0.9, 6))
    [0, 1, 2, 3, 4, 5]
    """
    n_draws, n = scores.shape
    size = min(size, n)
    inside = members.astype(np.float32)
    if n < 2:
        return list(range(n))
    of_pairs = membership_worth(scores, members, noise)[0]
    if skipped:
        able = np.stack([completable([i], n, size, skipped) for i in range(n)])
        of_pairs[~able[np.triu_indices(n, 1)]] = -np.inf
    best = int(of_pairs.argmax())
    chosen = [int(axis[best]) for axis in np.triu_indices(n, 1)]
    while len(chosen) < size:
        shown = scores[:, chosen]
        label = chosen_best(shown, noise)
        beats = _beats(scores, shown, noise)
        # Split the draws by the answer if each alternative were added: those who name it, and
        # those who still name a present member.
        left = np.zeros(n)
        own = -_own_bits(beats, label)
        for answer in [None, *range(len(chosen))]:
            named = beats if answer is None else label[:, [answer]].astype(np.float32) * (1 - beats)
            size_of = named.sum(axis=0, dtype=np.float64)
            share = (named.T @ inside) / np.maximum(size_of, 1e-9)[:, None]
            p = size_of / n_draws
            left += p * entropy(share.astype(np.float64)).sum(axis=1)
            own -= np.where(p > 0, p * np.log2(np.maximum(p, 1e-12)), 0.0)
        worth = _OWN_BITS * own - left
        able = completable(chosen, n, size, skipped)
        # Of what is left after skips, first those whose question has more than one answer.
        several = able & (own > 1e-9)
        worth[~(several if skipped and several.any() else able)] = -np.inf
        chosen.append(int(worth.argmax()))
    return chosen


def _beats(scores: FloatArray, shown: FloatArray, noise: FloatArray | None) -> Singles:
    """Chance (s, n) that each alternative would be named instead of all those shown."""
    top = shown.max(axis=1)
    if noise is None:
        return np.asarray(scores > top[:, None], dtype=np.float32)
    # Together those shown are as strong as one alternative with this score.
    together = top + noise * np.log(np.exp((shown - top[:, None]) / noise[:, None]).sum(axis=1))
    beats: Singles = expit((scores - together[:, None]) / noise[:, None]).astype(np.float32)
    return beats


def _own_bits(beats: Singles, label: FloatArray) -> FloatArray:
    """Bits of noise (n,) in "which is best?" where each alternative joins, mean over draws."""
    among = -xlogy(label, label).sum(axis=1) / np.log(2.0)
    if not among.any():
        return np.zeros(beats.shape[1])
    joined = np.asarray(beats, dtype=np.float64)
    told: FloatArray = (entropy(joined) + (1 - joined) * among[:, None]).mean(axis=0)
    return told


def favourites(
    scores: FloatArray, size: int, skipped: Collection[frozenset[int]] = ()
) -> list[int]:
    """Set with the largest expected score of its best member, built greedily, none of `skipped`.

    Examples
    --------
    >>> favourites(np.array([[3.0, 0, 2], [0, 3, 2], [3, 0, 2]]), 2)
    [0, 1]
    """
    chosen: list[int] = []
    current = np.full(len(scores), -np.inf)
    n = scores.shape[1]
    for _ in range(min(size, n)):
        gain = np.maximum(scores, current[:, None]).mean(axis=0)
        gain[~completable(chosen, n, min(size, n), skipped)] = -np.inf
        chosen.append(int(gain.argmax()))
        current = np.maximum(current, scores[:, chosen[-1]])
    return chosen


def bits_of(shares: FloatArray) -> float:
    """Bits of an answer whose outcomes have these shares.

    Examples
    --------
    >>> bits_of(np.array([0.25, 0.25, 0.25, 0.25]))
    2.0
    """
    positive = shares[shares > 0]
    return float(-(positive * np.log2(positive)).sum())


def choice_bits(scores: FloatArray, noise: FloatArray | None = None) -> float:
    """Bits that "which is best?" tells about the weights.

    Parameters
    ----------
    scores : array, shape (s, q)
        Of the alternatives shown.
    noise : array, shape (s,), optional
        See `membership_worth`.

    Examples
    --------
    >>> choice_bits(np.eye(4))
    2.0
    >>> round(choice_bits(np.eye(4), np.full(4, 100.0)), 3)  # an answer that is all noise
    0.0
    """
    plain = bits_of(chosen_best(scores).mean(axis=0))
    # Where all draws agree, an answer would tell about the noise alone.
    if noise is None or plain == 0:
        return plain
    shares = chosen_best(scores, noise)
    told = bits_of(shares.mean(axis=0)) - float(
        -xlogy(shares, shares).sum(axis=1).mean() / np.log(2.0)
    )
    return told if told > _NO_BITS else 0.0

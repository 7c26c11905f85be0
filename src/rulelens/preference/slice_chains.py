"""Markov chains of weights under noisy choices, in lockstep: slice sampling."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rulelens.preference.table import FloatArray, IntArray

_SHRINKS = 60
_NEVER = 1e-13
_EXCHANGE = np.array([1.0, -1.0])
_MANY = 100
"""Above this number of weights a step makes many exchanges at once."""
_BLOCKS = 16
"""One in so many of the weights gives to another in such a step."""


@dataclass(frozen=True, slots=True, eq=False)
class Choices:
    """Statements as noisy choices: factor f has probability 1 / (1 + Σ exp(-gap·w / noise)).

    Parameters
    ----------
    gaps : array, shape (g, m)
        Chosen minus not chosen.
    starts : int array, shape (f,)
        Where each factor's gaps start.
    """

    gaps: FloatArray
    starts: IntArray

    def log_likelihood(self, scores: FloatArray, noise: FloatArray) -> FloatArray:
        """Log-likelihood for gap scores (g, c) and noise (c,), shape (c,)."""
        odds = np.exp(np.minimum(-scores / noise, 600.0))
        total: FloatArray = np.log1p(np.add.reduceat(odds, self.starts, axis=0)).sum(axis=0)
        return -total


class Chains:
    """All chains: weights (m, c), their gap scores, log-likelihoods and noise levels."""

    def __init__(
        self,
        weights: FloatArray,
        choices: Choices,
        levels: FloatArray,
        low: FloatArray,
        high: FloatArray,
        rng: np.random.Generator,
    ) -> None:
        self.weights, self.choices, self.levels, self.rng = weights, choices, levels, rng
        self.low, self.high = low[:, None], high[:, None]
        # Weights that sum to 1 and are not negative are at most 1 without being told.
        self.bounded_above = bool((high < 1.0).any())
        self.gap_scores = choices.gaps @ weights
        self.noise = levels[rng.integers(0, len(levels), weights.shape[1])]
        self.fit = self._likelihood(self.gap_scores, self.noise)
        self.directions = np.zeros((len(weights), 0))

    def _likelihood(self, scores: FloatArray, noise: FloatArray) -> FloatArray:
        if len(self.choices.starts) == 0:
            return np.zeros(scores.shape[1])
        return self.choices.log_likelihood(scores, noise)

    def learn_directions(self) -> None:
        """Axes in which the chains spread: the principal directions of their weights."""
        if len(self.weights) > 1 and not self.in_blocks:
            _, axes = np.linalg.eigh(np.cov(self.weights))
            axes = axes[:, 1:] - axes[:, 1:].mean(axis=0)
            axes[np.abs(axes) < 1e-12] = 0.0
            # Column by column in memory, for a step reads one; none that stands still.
            self.directions = np.asfortranarray(axes[:, np.abs(axes).max(axis=0) > 1e-9])

    @property
    def in_blocks(self) -> bool:
        """Whether a step makes many exchanges at once."""
        return len(self.weights) > _MANY

    def steps_between_draws(self) -> int:
        """Steps after which a draw has mostly forgotten the one before."""
        m = len(self.weights)
        if not self.in_blocks:
            return 4 * m
        return int((50 + m / 20) * (1 + len(self.choices.starts) / 50))

    def walk(self, n_steps: int) -> None:
        """`n_steps` slice-sampling steps of all chains, the noise redrawn every few."""
        m = len(self.weights)
        if m < 2:
            return
        for step in range(n_steps):
            if self.in_blocks:
                self._exchange_many()
            elif self.directions.shape[1] and step % 2:
                axis = self.directions[:, self.rng.integers(self.directions.shape[1])]
                self._step(slice(None), axis)
            else:
                self._step(self.rng.choice(m, 2, replace=False), _EXCHANGE)
            if step % 8 == 7 and len(self.levels) > 1:
                self._redraw_noise()
        # Rounding adds up over many steps: take the scores from the weights again.
        self.weights = np.clip(self.weights, self.low, self.high)
        self.gap_scores = self.choices.gaps @ self.weights
        self.fit = self._likelihood(self.gap_scores, self.noise)

    def _step(self, which: IntArray | slice, axis: FloatArray) -> None:
        """Move the weights `which` along `axis`, each chain to a place of its own."""
        here = self.weights[which]
        # A wall is `axis / room` away, turned over: one division for all walls, none for the 0s.
        near = axis[:, None] / np.maximum(here - self.low[which], _NEVER)
        ahead, behind = near.min(axis=0), near.max(axis=0)
        if self.bounded_above:
            far = axis[:, None] / np.maximum(self.high[which] - here, _NEVER)
            ahead = np.minimum(ahead, -far.max(axis=0))
            behind = np.maximum(behind, -far.min(axis=0))
        high, low = -1.0 / ahead, -1.0 / behind
        change = self.choices.gaps[:, which] @ axis
        level = self.fit - self.rng.standard_exponential(len(high))
        move = np.zeros(len(high))
        fit = self.fit.copy()
        todo = np.arange(len(high))
        for _ in range(_SHRINKS):
            place = low[todo] + (high[todo] - low[todo]) * self.rng.random(len(todo))
            scores = self.gap_scores[:, todo] + change[:, None] * place
            tried = self._likelihood(scores, self.noise[todo])
            good = tried >= level[todo]
            move[todo[good]], fit[todo[good]] = place[good], tried[good]
            # Where the place is too unlikely, the slice shrinks to it, always around 0.
            bad, at = todo[~good], place[~good]
            low[bad] = np.where(at < 0, at, low[bad])
            high[bad] = np.where(at < 0, high[bad], at)
            todo = bad
            if len(todo) == 0:
                break
        self.weights[which] = here + axis[:, None] * move
        self.gap_scores += change[:, None] * move
        self.fit = fit

    def _exchange_many(self) -> None:
        """Move weight between the two of many pairs at once, no weight in two of them.

        The slice is then a box, which shrinks on all sides where a place is too unlikely. With
        many weights and few statements a box is hardly less likely than one of its sides, and
        costs the same handful of array operations.

        References
        ----------
        Neal: Slice sampling (2003), section 5.1.
        """
        m, n_chains = self.weights.shape
        half = m // _BLOCKS
        pairs = self.rng.permutation(m)[: 2 * half]
        i, j = pairs[:half], pairs[half:]
        gives, takes = self.weights[i], self.weights[j]
        low = np.maximum(self.low[i] - gives, takes - self.high[j])
        high = np.minimum(self.high[i] - gives, takes - self.low[j])
        change = self.choices.gaps[:, i] - self.choices.gaps[:, j]
        level = self.fit - self.rng.standard_exponential(n_chains)
        move, moved = np.zeros(low.shape), np.zeros(self.gap_scores.shape)
        fit = self.fit.copy()
        todo = np.arange(n_chains)
        for _ in range(_SHRINKS):
            place = low + (high - low) * self.rng.random(low.shape)
            shift = change @ place
            tried = self._likelihood(self.gap_scores[:, todo] + shift, self.noise[todo])
            good = tried >= level[todo]
            done = todo[good]
            move[:, done], moved[:, done], fit[done] = place[:, good], shift[:, good], tried[good]
            bad = ~good
            todo, at = todo[bad], place[:, bad]
            if len(todo) == 0:
                break
            low = np.where(at < 0, at, low[:, bad])
            high = np.where(at < 0, high[:, bad], at)
        self.weights[i] = gives + move
        self.weights[j] = takes - move
        self.gap_scores += moved
        self.fit = fit

    def _redraw_noise(self) -> None:
        n_chains = self.weights.shape[1]
        fits = np.stack(
            [self._likelihood(self.gap_scores, np.full(n_chains, v)) for v in self.levels]
        )
        # The largest of Gumbel-shifted log-probabilities is a draw from them.
        pick = (fits + self.rng.gumbel(size=fits.shape)).argmax(axis=0)
        self.noise = self.levels[pick]
        self.fit = fits[pick, np.arange(n_chains)]

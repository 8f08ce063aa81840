"""Designing channels: a problem, a method, a solution, and its certificate."""

from metricdp.design._epsilon import epsilon_for
from metricdp.design._problem import Problem
from metricdp.design._solution import Solution
from metricdp.design._solve import METHODS, solve

__all__ = ["METHODS", "Problem", "Solution", "epsilon_for", "solve"]

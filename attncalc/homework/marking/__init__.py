"""Answers are judged step by step and marked, and whole classes graded."""

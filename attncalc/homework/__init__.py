"""Homework: sheets are read, each step is judged, the mistake behind it is named, and new problems are made.

The rooms, each of which knows only those before it: `reading` (from sheets to answers), `diagnosis` (what may be behind
an answer), `marking` (a finding for each step, marks, whole classes), `quiz` and `reports`, and `practice`, which asks
for one step after the other.

Glossary:
- sheet: what one student has handed in; an *answer* is what stands on it for one step.
- entry: one number of a step; its *place* says where in the step it stands.
- step: a named value on the way to the result, as the calculation has it.
- key: what the steps of a problem should be, and what known mistakes make of them.
- rule: a way of computing a step: the *usual* one, an *alternative* that is as right, or a *mistake*.
- alias: a mistake that gives the same numbers as another one, whatever the operands are.
- solution: a problem solved by certain rules, so that each of its steps has a value.
- own values: what the student has written for steps before the one that is judged.
- to follow: to be what own values give, of which some are wrong; an error is then carried, and not made again.
- question: one step that is judged, with its answer and the own values that it is made of.
- explanation: mistakes that, made together, give what was written.
- chance: an explanation that fits no better than any numbers would is none; *odds* say how well it fits.
- tie: two explanations that fit equally well; operands *separate* them if they give different steps.
- slip: a fault of the hand that no rule is behind: a sign, one entry, a misread number.
- manner of rounding: at which places, to how many digits and how somebody rounds on the way to a step.
- free: what several values are equally right for, such as the length of an eigenvector.
- dump: an answer that a machine wrote, with more entries or digits than a hand writes.
- excerpt: some rows of a step that is too large to be worked out as a whole for every mistake.
- verdict: how a step is judged, in a word; a *finding* is the verdict with its reason; marks follow from it.
"""

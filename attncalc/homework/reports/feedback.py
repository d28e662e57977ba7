"""Feedback: a page for each student, with their own sheet and nobody else's."""

from __future__ import annotations

from attncalc.common.numerals import QUESTION
from attncalc.homework.marking.whole_class import Graded
from attncalc.homework.reports.class_reports import AS_USUAL, Account, of_another
from attncalc.homework.reports.marked_sheets import summary, verdicts
from attncalc.record.verdicts import USUAL_POLICY
from attncalc.render import View
from attncalc.render.page import Block, Heading, Page, Paragraph, write
from attncalc.render.printing import printed

FORMATS = {"html": ".html", "markdown": ".md", "text": ".txt"}
"""The suffix of a page's file, by its format."""
TEXT_COLUMNS = 80
UNREAD = "Your sheet could not be read, and has no marks yet."


def written_for(one: Graded, format: str, how: Account = AS_USUAL) -> str:
    """The page of a student in a format of FORMATS."""
    return str(write(page(one, how), "table" if format == "text" else format, View(width=TEXT_COLUMNS)))


def page(one: Graded, how: Account = AS_USUAL) -> Page:
    """What a student gets back: their marks, each step with what they wrote, and a hint if it is wrong."""
    marked = None if one.marked is None else one.marked.told(how.hints or QUESTION).shown
    title = marked.calculation if marked is not None and marked.calculation else "Feedback"
    blocks: list[Block] = [Heading(title), Paragraph(one.student)]
    if marked is None:
        blocks += [Paragraph(UNREAD, "wrong"), Paragraph(one.fault)]
    else:
        blocks.append(Paragraph(summary(marked), "sound" if marked else "wrong"))
        blocks += [Paragraph(told, "wrong") for told in of_another(one)]
        blocks += [verdict._replace(apart="") for verdict in verdicts(marked)]
        for change in how.log:
            if change.student == one.student:
                why = f": {change.why}" if change.why else ""
                blocks.append(Paragraph(f"the marks of {change.step} were changed by hand{why}"))
        if marked.policy != USUAL_POLICY:
            blocks.append(Paragraph(f"policy: {marked.policy}", "about"))
    return printed(Page(f"{title}, {one.student}", tuple(blocks)), how.printing)

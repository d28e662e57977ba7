"""Large runs: evaluated in blocks on all cores, in little memory; refused beforehand where even that is not to be had.

run          what a reader gets of such a run, whose larger steps nobody keeps; the way in
layout       in which order a graph is evaluated in blocks, and the bytes that this takes
portions     the graph of one block, or of one entry
blocks       evaluation by the layout
fused        the one kernel beside the derived blocks: softmax(x)·V, never holding all scores
exponential  exp of float64 by a table, which that kernel takes where NumPy's own is slow
cores        pieces of work on all cores
memory       what the machine can spare, and the refusal of more
"""

"""Chapter I: pruning.

sums.py           Eq. 13–16; the chapter put together
layer_removal.py  what removing a layer changes
"""

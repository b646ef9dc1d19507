"""Chapters B to D: layers as matrices acting on vec(x), and the diamond product.

method.py              the matrix–vector method
linear_layer.py        linear layers on either axis
feed_forward.py        the feed-forward part
diamond.py             the diamond product
diamond_properties.py  its two properties, line by line under each association
"""

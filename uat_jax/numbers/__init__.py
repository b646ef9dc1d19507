"""The number systems in which a jaxpr is evaluated, and the normal form for all sizes.

floats        float64 with rounding noise, and bounds on rounding
balls         exact values with a radius
complex       real and imaginary parts
integers      bit vectors
prime_fields  random points of towers of prime fields
indexed       a normal form for all sizes
"""

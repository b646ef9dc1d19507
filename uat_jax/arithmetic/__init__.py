"""Number systems in which a jaxpr can be evaluated, and the interpreter that does it in any of them."""

"""v2 Lemma 2 (row lemma-2.some-fixed-sum.relu): a multi-layer network of two inputs has the form of UAT, σ = relu.

For a sum f(p) = a·p + k + Σ α_j relu(w_j·p + b_j), of any length, (f(sp) − f(−sp))/s tends to a linear function of p
for s → ∞.  The network relu(y + relu(x − y)) = max(0, x, y) satisfies f(sp) = s f(p), so that f(p) − f(−p) must be
linear.  With one input there is no such example: a relu network is then a fixed sum.
"""


def relu(t):
    return max(t, 0)


def network(x, y):
    return relu(y + relu(x - y))


def odd(x, y):
    return network(x, y) - network(-x, -y)


together, apart = odd(1, 1), odd(1, 0) + odd(0, 1)
print(f"g(1, 1) = {together}, g(1, 0) + g(0, 1) = {apart}")
if together == apart:
    raise SystemExit("no counterexample: additive here")

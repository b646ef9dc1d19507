# %% [markdown]
# # References, numbers and names
#
# A reference is wrong if what it names does not exist, or is about something else; a name is wrong if nothing
# in the text defines it. Both are decided by lookup: the labels of the papers (sections, appendices, figures,
# equations) and the names in their printed formulas are data, typed in from the text and read off the LaTeX of
# the ledger's rows.

# %%
from argument import Argument, run

import uat_jax as uj
from uat_jax.decide.decision import decide
from uat_jax.decide.settings import Settings
from uat_jax.ledger.ledger import find

SYMBOLIC = Settings(dtypes=())


def decided(a: Argument, *names: str) -> None:
    """Each claim with the verdict its row expects, and what was found."""
    for name in names:
        claim = find(name)
        certificate = decide(claim, SYMBOLIC)
        refuted = "refuted — " if claim.expects is uj.Verdict.REFUTED else ""
        a.check(f"{refuted}{claim.title}", certificate.passes)
        a.show("\n".join(evidence.finding for evidence in certificate.evidence[:2]))


# %% [markdown]
# ## What the abstract page counts
#
# The page of the DUAT paper's abstract says how many sections, equations and figures the paper has. It has them.


# %%
def structure(a: Argument) -> None:
    """Headings, tags and figures of the DUAT paper."""
    a.section("What the abstract page counts")
    decided(a, "abstract.structure")


# %% [markdown]
# ## References that lead nowhere
#
# The appendices were lettered anew, and the references to them were not; "Figure 9" is a figure of another paper
# of the authors, from which Appendix B was taken over.


# %%
def references(a: Argument) -> None:
    """Appendices, figures, equations."""
    a.section("References that lead nowhere")
    decided(a, "references.appendices", "references.appendices-corrected")
    decided(a, "references.figure-9", "references.figure-4")
    decided(a, "references.equations", "references.equations-shown", "references.equations-6-and-10")


# %% [markdown]
# ## Names that nothing defines
#
# Eq. 11 has a bias b_{i+1,1}; the list of updates below it defines b_{i+1,3}. The same slip stands in the
# substitution of Eq. 26, 27 and 32, and in the assumption of the induction.


# %%
def names(a: Argument) -> None:
    """Names in printed formulas against the names that are defined."""
    a.section("Names that nothing defines")
    decided(a, "names.eq-11", "names.eq-33")
    decided(a, "names.substitution", "names.substitution-corrected")
    decided(a, "names.induction", "names.induction-corrected")
    decided(a, "names.eq-6-v2", "names.eq-6-v2-corrected")
    decided(a, "names.eq-34", "names.eq-34-corrected")


# %% [markdown]
# ## Verdict
#
# None of these slips changes a value once the names are read as Theorem 1 has them; each has its correction.


# %%
def main() -> None:
    """Print the argument; raise at the first row that has another verdict than expected."""
    a = Argument("References, numbers and names")
    structure(a)
    references(a)
    names(a)
    a.section("Verdict")
    a.say(
        "REFUTED: five references to appendices, Figure 9, the place of Equations 6 and 28, and the names b_{i+1,1}, "
        "b_{i,1}, b_{2,1} and b_{i,2} where they stand. PROVED: each with its correction, and the numbers that the "
        "abstract page gives. ∎"
    )


if __name__ == "__main__":
    run(main)

"""What a reader must know besides the numbers: errata of the paper, and why some of its claims are not met."""

# Of the paper; each was checked by enumeration, by simulation or by computation.
ERRATA = [
    (
        "Appendix C, function Recycle: w = K/|A′|",
        "must be w = K|A′|/|A|. The printed rule draws states several times too often or too rarely, and divides by "
        "zero where the left subtree has no acceptable state. The text above the algorithm agrees with the corrected "
        "rule. A node without acceptable states must not be entered, and slots are only right on average over all of "
        "them: low ones come from the left end of the path.",
    ),
    ("Algorithm 1, step 4", "should begin the next iteration at (θ_K, p_K) of iteration i + 1, not i."),
    (
        "Algorithm 2 (simple recycled NUTS)",
        "draws K states without replacement, which needs K acceptable states; often there are fewer. Here all are "
        "copied first.",
    ),
    (
        "Rule for the path length, τ^(−1/2) E‖·‖",
        "Wang, Mohamed and de Freitas have the squared norm. The two have other optima: see “other paths” below each "
        "case. The paper's 9 steps for the logistic regression suit the norm, its 90 for the volatility only the square.",
    ),
    (
        "Footnote on memory: 4 GB for the volatility",
        "3,200 iterations × 100 states × 3,000 parameters take 7.7 GB in double precision; 3.8 GB in single precision.",
    ),
    (
        "Figure 12 (Cox process, NUTS)",
        "the source includes the files of Figure 10, which show the volatility. What the paper's figure would look "
        "like is not known.",
    ),
    (
        "Proof of Theorem 3",
        "P_0^n(· | z_0^(n)) should be P_0^n(· | z_0^(0)); and in Appendix D the words “are stable” are missing from “we "
        "find that the ESS ratios across the chain lengths”.",
    ),
]

# By section of the page; in words, because the numbers depend on the run.
EXPLANATIONS = {
    "gaussian": [
        "Why the gain in the direction of the leading component falls under HMC, where the paper has it grow: it depends "
        "on the length of the paths, which the paper gives only as 251 steps on average. The direction is estimated from "
        "products of the leading coordinate with others. For exact paths, all accepted, with lengths uniform in [T/2, "
        "T], the gain for these products can be computed: log₂ −0.2 for T = 3.1, as here, 0.1 for 3.6, 0.8 for 4.5.",
    ],
    "logistic": [
        "Why a single recycled state gives less than 40%: the final state and another are two draws from the "
        "trajectory, which halve what a single draw adds to the variance of the mean over all states. For 40% all "
        "states together must gain 133%, as they do on the Gaussian only.",
    ],
    "volatility": [
        "Trees are larger than the paper's, perhaps because its step size, which it does not report, was larger.",
        "Why gains fall a little as chains grow: all coordinates depend on the roughness of the path, which takes "
        "hundreds of iterations to mix and gains next to nothing; its share of the error grows to its full size in long "
        "chains. With it removed by regression, the gains are the same in 100 and in 3,200 iterations.",
        "The leading component is compared with eight evenly spread states.",
    ],
    "cox": [
        "Why means gain at 70% acceptance, where the paper says that they lose: a coordinate of a normal that a path of "
        "time t turns by t has autocorrelation 1 − a (1 − sin(T)/T), with acceptance a and longest time T. That is "
        "negative, so that plain means are super-efficient, only for a > 0.82, as with small steps.",
        "The leading component is compared with eight evenly spread states.",
    ],
}

"""What the tables call statistics, kernels and test cases, in words for readers."""

STATISTICS = ["mean", "variance", "q97.5"]
KERNELS = ["hmc", "nuts-slice", "nuts"]
CASES = ["gaussian", "logistic", "volatility", "cox"]


def statistic_name(statistic):
    return "97.5% quantile" if statistic == "q97.5" else statistic


def kernel_name(kernel, case=""):
    if kernel.startswith("hmc"):
        name = "Riemannian HMC" if case == "cox" else "HMC"
        return name + {"hmc": "", "hmc-small": " with small steps"}.get(kernel, kernel[3:])
    return {"nuts-slice": "NUTS (slice)", "nuts": "NUTS (multinomial)"}.get(kernel, kernel)


def case_name(case):
    return {
        "gaussian": "Multivariate Gaussian",
        "logistic": "Hierarchical logistic regression",
        "volatility": "Stochastic volatility",
        "cox": "Log-Gaussian Cox process",
    }.get(case, case)

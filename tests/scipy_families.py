"""The families of scipy.stats with shapes at which the tests and the page of distributions call them."""

CONTINUOUS = {
    "alpha": (3.57,), "anglit": (), "arcsine": (), "argus": (1.0,), "beta": (2.31, 0.627), "betaprime": (5.0, 6.0), "bradford":
    (0.299,), "burr": (10.5, 4.3), "burr12": (10.0, 4.0), "cauchy": (), "chi": (78.0,), "chi2": (55.0,), "cosine": (),
    "crystalball": (2.0, 3.0), "dgamma": (1.102,), "dpareto_lognorm": (3.0, 1.2, 1.5, 2.0), "dweibull": (2.069,), "erlang":
    (10.0,), "expon": (), "exponnorm": (1.5,), "exponpow": (2.697,), "exponweib": (2.892, 1.951), "f": (29.0, 18.0),
    "fatiguelife": (1.5,), "fisk": (3.086,), "foldcauchy": (4.716,), "foldnorm": (1.952,), "gamma": (1.993,), "gausshyper":
    (13.764, 3.119, 2.515, 5.181), "genexpon": (9.133, 16.232, 3.282), "genextreme": (-0.1,), "gengamma": (4.416, 3.119),
    "genhalflogistic": (0.773,), "genhyperbolic": (0.5, 1.5, -0.5), "geninvgauss": (2.3, 1.5), "genlogistic": (0.412,),
    "gennorm": (1.299,), "genpareto": (0.1,), "gibrat": (), "gompertz": (0.947,), "gumbel_l": (), "gumbel_r": (), "halfcauchy":
    (), "halfgennorm": (0.675,), "halflogistic": (), "halfnorm": (), "hypsecant": (), "invgamma": (4.067,), "invgauss":
    (0.145,), "invweibull": (10.58,), "irwinhall": (10.0,), "jf_skew_t": (8.0, 4.0), "johnsonsb": (4.317, 3.184), "johnsonsu":
    (2.554, 2.248), "kappa3": (1.0,), "kappa4": (0.0, 0.0), "ksone": (1000.0,), "kstwo": (10.0,), "kstwobign": (), "landau": (),
    "laplace": (), "laplace_asymmetric": (2.0,), "levy": (), "levy_l": (), "levy_stable": (1.8, -0.5), "loggamma": (0.414,),
    "logistic": (), "loglaplace": (3.251,), "lognorm": (0.954,), "loguniform": (0.01, 1.25), "lomax": (4.5,), "maxwell": (),
    "mielke": (10.4, 4.6), "moyal": (), "nakagami": (4.967,), "ncf": (27.0, 27.0, 0.416), "nct": (14.0, 0.24), "ncx2": (21.0,
    1.056), "norm": (), "norminvgauss": (1.25, 0.5), "pareto": (2.622,), "pearson3": (0.1,), "powerlaw": (1.659,),
    "powerlognorm": (2.141, 0.446), "powernorm": (4.445,), "rayleigh": (), "rdist": (1.6,), "recipinvgauss": (0.63,),
    "reciprocal": (0.01, 1.25), "rel_breitwigner": (36.545,), "rice": (0.775,), "semicircular": (), "skewcauchy": (0.5,),
    "skewnorm": (4.0,), "studentized_range": (3.0, 10.0), "t": (2.743,), "trapezoid": (0.2, 0.8), "triang": (0.158,),
    "truncexpon": (4.691,), "truncnorm": (-1.098, 2.731), "truncpareto": (1.8, 5.3), "truncweibull_min": (2.5, 0.25, 1.75),
    "tukeylambda": (3.132,), "uniform": (), "vonmises": (3.994,), "vonmises_line": (3.994,), "wald": (), "weibull_max":
    (2.869,), "weibull_min": (1.787,), "wrapcauchy": (0.031,),
}  # fmt: skip

DISCRETE = {
    "bernoulli": (0.3,), "betabinom": (5, 2.3, 0.63), "betanbinom": (5, 9.3, 1), "binom": (5, 0.4), "boltzmann": (1.4, 19),
    "dlaplace": (0.8,), "geom": (0.5,), "hypergeom": (30, 12, 6), "logser": (0.6,), "nbinom": (0.4, 0.4), "nchypergeom_fisher":
    (140, 80, 60, 0.5), "nchypergeom_wallenius": (140, 80, 60, 0.5), "nhypergeom": (20, 7, 1), "planck": (0.51,), "poisson":
    (0.6,), "poisson_binom": ((0.3, 0.6, 0.8),), "randint": (7, 31), "skellam": (15, 8), "yulesimon": (11.0,), "zipf": (6.6,), "zipfian": (0.75, 15),
}  # fmt: skip

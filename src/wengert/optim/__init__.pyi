"""The names of wengert.optim, which the module itself loads late.

Written by `make generate`: change the sources, not this file.
"""

# ruff: noqa

__all__: list[str]
from wengert.optim.asgd import ASGD as ASGD
from wengert.optim.adadelta import Adadelta as Adadelta
from wengert.optim._adafactor import Adafactor as Adafactor
from wengert.optim.adagrad import Adagrad as Adagrad
from wengert.optim.adam import Adam as Adam
from wengert.optim.adamw import AdamW as AdamW
from wengert.optim.adamax import Adamax as Adamax
from wengert.optim.lbfgs import LBFGS as LBFGS
from wengert.optim._muon import Muon as Muon
from wengert.optim.nadam import NAdam as NAdam
from wengert.optim.optimizer import Optimizer as Optimizer
from wengert.optim.radam import RAdam as RAdam
from wengert.optim.rmsprop import RMSprop as RMSprop
from wengert.optim.rprop import Rprop as Rprop
from wengert.optim.sgd import SGD as SGD
from wengert.optim import adadelta as adadelta
from wengert.optim import adagrad as adagrad
from wengert.optim import adam as adam
from wengert.optim import adamax as adamax
from wengert.optim import adamw as adamw
from wengert.optim import asgd as asgd
from wengert.optim import lbfgs as lbfgs
from wengert.optim import lr_scheduler as lr_scheduler
from wengert.optim import nadam as nadam
from wengert.optim import optimizer as optimizer
from wengert.optim import radam as radam
from wengert.optim import rmsprop as rmsprop
from wengert.optim import rprop as rprop
from wengert.optim import sgd as sgd
from wengert.optim import swa_utils as swa_utils

"""The names of wengert.nn.utils, which the module itself loads late.

Written by `make generate`: change the sources, not this file.
"""

# ruff: noqa

__all__: list[str]
from wengert.nn.utils import clip_grad as clip_grad
from wengert.nn.utils.clip_grad import clip_grad_norm as clip_grad_norm
from wengert.nn.utils.clip_grad import clip_grad_norm_ as clip_grad_norm_
from wengert.nn.utils.clip_grad import clip_grad_value_ as clip_grad_value_
from wengert.nn.utils.clip_grad import clip_grads_with_norm_ as clip_grads_with_norm_
from wengert.nn.utils.memory_format import convert_conv2d_weight_memory_format as convert_conv2d_weight_memory_format
from wengert.nn.utils.memory_format import convert_conv3d_weight_memory_format as convert_conv3d_weight_memory_format
from wengert.nn.utils import convert_parameters as convert_parameters
from wengert.nn.utils.fusion import fuse_conv_bn_eval as fuse_conv_bn_eval
from wengert.nn.utils.fusion import fuse_conv_bn_weights as fuse_conv_bn_weights
from wengert.nn.utils.fusion import fuse_linear_bn_eval as fuse_linear_bn_eval
from wengert.nn.utils.fusion import fuse_linear_bn_weights as fuse_linear_bn_weights
from wengert.nn.utils import fusion as fusion
from wengert.nn.utils.clip_grad import get_total_norm as get_total_norm
from wengert.nn.utils import init as init
from wengert.nn.utils import memory_format as memory_format
from wengert.nn.utils.convert_parameters import parameters_to_vector as parameters_to_vector
from wengert.nn.utils import parametrizations as parametrizations
from wengert.nn.utils import parametrize as parametrize
from wengert.nn.utils import prune as prune
from wengert.nn.utils.spectral_norm import remove_spectral_norm as remove_spectral_norm
from wengert.nn.utils.weight_norm import remove_weight_norm as remove_weight_norm
from wengert.nn.utils import rnn as rnn
from wengert.nn.utils.init import skip_init as skip_init
from wengert.nn.utils.spectral_norm import spectral_norm as spectral_norm
from wengert.nn.utils import stateless as stateless
from wengert.nn.utils.convert_parameters import vector_to_parameters as vector_to_parameters
from wengert.nn.utils.weight_norm import weight_norm as weight_norm

"""torch.backends.xnnpack: the library is not used."""

enabled = False

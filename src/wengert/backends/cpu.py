"""torch.backends.cpu: facts about the processor."""


def get_cpu_capability() -> str:
    """Return the level of the compiled kernels in torch's words: "AVX512", "AVX2" or "DEFAULT"."""
    from wengert import kernels

    level: str = getattr(kernels.native, "level", "")
    return {"v4": "AVX512", "v3": "AVX2"}.get(level, "DEFAULT")

"""The core: tensors and the graph. Names no mathematical operation; compiled where a C compiler was found."""

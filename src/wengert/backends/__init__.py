"""Array backends: one module per array library, all with the same names. Forwards get a backend as xp."""

"""One module an array library, the same names in each: what forwards see as xp."""

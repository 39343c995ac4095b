"""Parts for DistRL that are no part of it; tests install this package beside it."""

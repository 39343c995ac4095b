"""Where tasks come from: the simulated phone, AitW, AndroidWorld; curricula draw from them."""

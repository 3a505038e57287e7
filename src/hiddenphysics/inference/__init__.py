"""Learning: likelihood, start, optimiser, uncertainty, posterior; plain functions of one problem."""

"""Data generators: exact solutions, and flows the library computes itself."""

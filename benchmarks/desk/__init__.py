"""The desk as a user finds it: files of many kinds, the shell, the notebook, scikit-learn, the studio in a browser."""

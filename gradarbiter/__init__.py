"""Checks that find training defects which raise no error."""

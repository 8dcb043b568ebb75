"""Repros: a bad cell of the matrix as a folder of its own that a framework's maintainer runs; kept only if it fails as the record says."""

"""Which release changed an answer: a search over a framework's released versions, each asked in an environment of its own."""

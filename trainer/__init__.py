"""The reference language-model trainer: small, exact, readable in one sitting; run as `python -m trainer.train`."""

"""The harness: asks the cells, judges the answers, keeps the records, draws the page."""

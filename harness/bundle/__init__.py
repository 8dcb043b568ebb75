"""A folder that fits an upstream project's own issue form: facts, code and tables for a person who files it. Nothing is ever posted."""

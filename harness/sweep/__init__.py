"""The sweep: one operation asked in many ways (types, layouts, sizes, uses), held against float64; see docs/adr/0005-the-sweep.md."""

"""The shipped rules, one file per field of trade; each rule carries its own true and false examples."""

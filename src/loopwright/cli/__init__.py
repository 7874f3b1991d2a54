"""The command line: parse, call a verb, render. Nothing is decided here."""

"""The shipped rules, one file per field of trade. A rule is a row: name, provider, then its shape or its pattern."""

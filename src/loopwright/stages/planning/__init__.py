"""The plan stage: a spec becomes slices with checks, documents and a delta to the living specs."""

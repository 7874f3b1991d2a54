"""The append-only journal: ordered facts, each linked to the previous fact by its digest."""

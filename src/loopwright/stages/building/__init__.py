"""A build: its briefing, judge, lanes and controls, and the work that was verified."""

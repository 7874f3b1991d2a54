"""Iterating towards a goal under a person's control: rules, store, driver."""

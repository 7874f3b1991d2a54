"""Translates messages. Everything is stored in English; the CLI translates a message when it prints the message."""

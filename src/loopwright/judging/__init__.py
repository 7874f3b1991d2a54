"""When work counts as done: scope, results per test, controls. Pure rules: starts no process, opens no sandbox."""

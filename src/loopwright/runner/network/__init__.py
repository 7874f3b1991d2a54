"""The only way out of a sandbox without a network: a proxy that reaches the addresses of the agent's model."""

"""The only place that names adapters: settings in, `Context` out."""

"""What people read, in their language. Facts are stored in English; a face says them in other words, at the very end."""

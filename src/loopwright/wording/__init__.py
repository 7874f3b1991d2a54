"""What people read, in their language. Facts are stored in English; a face says them otherwise, at the very end."""

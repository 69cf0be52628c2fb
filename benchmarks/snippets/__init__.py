"""Small modules that build prompts: with a fault each, mended, and without one."""

"""Recurrent networks: cells with a hand-written backward pass, two directions, stacks, truncation, clipping."""

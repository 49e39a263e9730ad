"""Keys and values that a decoder has computed once and reads again; modules are imported by name. No model is known here."""

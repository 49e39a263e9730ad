"""What attention multiplies, moves and keeps: by formula, and counted on a machine with two memories. No device is known here."""

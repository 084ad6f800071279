"""The code that the scripts share."""

"""The ranks that have to be looked at so that a proof says something of all of them."""

"""The command line: one file for each verb, with `add_arguments` and `run`."""

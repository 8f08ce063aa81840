"""`python -m metricdp` is the command line."""

from metricdp.cli import main

main()

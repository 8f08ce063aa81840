"""`python -m metricdp` is the command line."""

from metricdp._entry import main

main()

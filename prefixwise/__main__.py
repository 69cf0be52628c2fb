"""`python -m prefixwise`."""

from prefixwise.cli.app import main

if __name__ == "__main__":
    main()

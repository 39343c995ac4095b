"""What `make docs` adds to the pages of docs/: references generated from the code, and sources."""

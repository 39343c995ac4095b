"""What `make docs` adds to the pages of docs/: references made from the code, and source pages."""

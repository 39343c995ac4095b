"""`distrl view`: a run, its phones and its episodes as a page in the browser."""

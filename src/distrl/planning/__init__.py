"""On paper first: what a run would come to with more phones or GPUs than there are."""

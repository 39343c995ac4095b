"""The way back from the learner to the phones: weight versions, and how old they may be."""

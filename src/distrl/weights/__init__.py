"""Publication of weights from the learner to the collectors, and the limits of their staleness."""

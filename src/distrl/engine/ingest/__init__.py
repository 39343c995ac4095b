"""From a collector to the learner: messages, durable storage, judging, the arrival queue."""

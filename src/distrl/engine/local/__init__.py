"""The engine for one machine: collector processes beside the learner."""

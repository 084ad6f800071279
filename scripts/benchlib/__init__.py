"""What scripts/bench is made of beside itself."""

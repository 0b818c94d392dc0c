"""Where disguised answers are kept."""

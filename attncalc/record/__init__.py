"""What has been computed, frozen, and how a number is written."""

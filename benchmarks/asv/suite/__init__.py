"""A suite for airspeed velocity."""

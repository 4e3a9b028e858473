"""Metrics for Prometheus: their table, their text formats, a dashboard and alert rules; no store is read here."""

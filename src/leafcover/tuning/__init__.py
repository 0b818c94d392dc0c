"""The risk-utility map: many releases of one table, measured side by side."""

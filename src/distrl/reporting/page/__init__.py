"""The pieces that a report is put together from: charts, tables, film strips, their style."""

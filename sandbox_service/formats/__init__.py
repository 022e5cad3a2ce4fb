"""The formats in which trainers and data sets write tests and problems, read as fields of a submission."""

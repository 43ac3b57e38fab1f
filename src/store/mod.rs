//! The append-only match log in SQL.

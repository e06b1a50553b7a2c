//! Tests of types.

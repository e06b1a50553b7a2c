//! The seed of tests with random input.

/// The number in `PHYLLO_TEST_SEED`, or a random one. It is printed, so that a failure can be
/// repeated.
pub(crate) fn test_seed() -> u64 {
    let seed = std::env::var("PHYLLO_TEST_SEED").map_or_else(
        |_| rand::random(),
        |seed| seed.parse().expect("PHYLLO_TEST_SEED is a number"),
    );
    println!("PHYLLO_TEST_SEED={seed} repeats this test");
    seed
}

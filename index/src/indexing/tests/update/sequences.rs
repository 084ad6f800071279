//! Any sequence of updates equals a fresh build, with mixed codecs too.

use super::*;
use proptest::prelude::*;

/// A user action; numbers are packages and versions.
#[derive(Clone, Debug)]
enum Step {
    Give(u8, u8, u8),
    Remove(u8),
    /// Gives only the packages with a set bit.
    Prune(u32),
    /// Gives all indexed packages.
    Again,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0..14_u8, 0..2_u8, any::<u8>()).prop_map(|(name, version, text)| {
            Step::Give(name, version, text)
        }),
        2 => (0..14_u8).prop_map(Step::Remove),
        1 => any::<u32>().prop_map(Step::Prune),
        1 => Just(Step::Again),
    ]
}

type Model = BTreeSet<String>;

fn of_name(model: &Model, name: u8) -> Vec<String> {
    let prefix = format!("p{name}_");
    let of_name = model.iter().filter(|package| package.starts_with(&prefix));
    of_name.cloned().collect()
}

fn strings(packages: &[String]) -> Vec<&str> {
    packages.iter().map(String::as_str).collect()
}

fn take(there: &mut There, model: &mut Model, step: &Step) {
    match *step {
        Step::Give(name, version, bytes) => {
            let package = format!("p{name}_{version}");
            let body = "some needle\n".repeat(1 + usize::from(bytes) * 4);
            there.write(&package, &format!("{}.c", bytes % 3), body);
            for other in of_name(model, name) {
                model.remove(&other);
            }
            let report = there.update(&[&package]).unwrap();
            assert_eq!(report.read.packages, 1);
            model.insert(package);
        }
        Step::Remove(name) => {
            let removed = of_name(model, name);
            let result = there.change(&[], &removing(&[&format!("p{name}")]));
            assert_eq!(result.is_ok(), !removed.is_empty(), "{result:?}");
            removed.iter().for_each(|package| {
                model.remove(package);
            });
        }
        Step::Prune(bits) => {
            let numbered = (0..).zip(model.iter());
            let given = numbered.filter(|(number, _)| bits >> number & 1 == 1);
            let given: Vec<String> = given.map(|(_, package)| package.clone()).collect();
            if !given.is_empty() {
                there.change(&strings(&given), &PRUNE).unwrap();
                *model = given.into_iter().collect();
            }
        }
        Step::Again => {
            let all: Vec<String> = model.iter().cloned().collect();
            if !all.is_empty() {
                let before = there.manifest();
                let report = there.update(&strings(&all)).unwrap();
                assert_eq!(report.outcome, Outcome::Unchanged);
                assert_eq!(there.manifest(), before);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_of_updates_equals_a_fresh_build(
        steps in prop::collection::vec(step(), 1..24),
        shard_bytes in prop::sample::select(vec![2_000, 100_000, SHARD_BYTES]),
        codecs in prop::collection::vec(
            prop::sample::select(vec![ContentCodec::Raw, ContentCodec::Zstd]), 24,
        ),
    ) {
        let mut there = There::with(&["p0_0"]);
        there.options.shard_bytes = shard_bytes;
        let mut model = Model::from(["p0_0".to_owned()]);
        for (step, &content) in steps.iter().zip(&codecs) {
            there.options.content = Some(content);
            take(&mut there, &mut model, step);
            let packages: Vec<String> = model.iter().cloned().collect();
            if !packages.is_empty() {
                there.check(&strings(&packages));
            }
        }
    }
}

//! What a conversion writes: the values of `--to`, and what else its options ask for.

use std::prelude::v1::*;
use std::sync::LazyLock;

use clap::ValueEnum;
use clap::builder::PossibleValue;

use super::options::Family;
use crate::cli::outputs::coverage::CoverageFormat;
use crate::cli::outputs::coverage::review::ReviewFormat;
use crate::cli::outputs::instr_profile;
use crate::cli::outputs::profile::Target;
use crate::placement::explain::SourceLine;

/// Formats, including those that only a conversion can write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConvertTarget {
    Profile(Target),
    /// Counter files of gcc, one per object.
    Gcda,
    /// A profile of LLVM.
    InstrProfile(instr_profile::Target),
    /// Line coverage.
    Coverage(CoverageFormat),
    /// Line coverage for reviewers of a change.
    Review(ReviewFormat),
    /// A table of dumps or profiles.
    #[cfg(feature = "parquet")]
    Parquet,
}

impl ValueEnum for ConvertTarget {
    fn value_variants<'a>() -> &'a [Self] {
        static VARIANTS: LazyLock<Vec<ConvertTarget>> = LazyLock::new(|| {
            let profiles = Target::value_variants().iter().copied().map(ConvertTarget::Profile);
            let by_function = instr_profile::Target::value_variants().iter().copied();
            let by_function = by_function.map(ConvertTarget::InstrProfile);
            let coverage = CoverageFormat::value_variants().iter().copied();
            let coverage = coverage.map(ConvertTarget::Coverage);
            let review = ReviewFormat::value_variants().iter().copied().map(ConvertTarget::Review);
            let coverage = coverage.chain(review);
            let others = profiles.chain([ConvertTarget::Gcda]).chain(by_function).chain(coverage);
            #[cfg(feature = "parquet")]
            let others = others.chain([ConvertTarget::Parquet]);
            others.collect()
        });
        &VARIANTS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Profile(target) => target.to_possible_value(),
            Self::InstrProfile(target) => target.to_possible_value(),
            Self::Coverage(target) => target.to_possible_value(),
            Self::Review(target) => target.to_possible_value(),
            #[cfg(feature = "parquet")]
            Self::Parquet => {
                let help = "Table for engines that merge: all counters of dumps, or all positions of profiles";
                Some(PossibleValue::new("parquet").help(help))
            }
            Self::Gcda => {
                let help = "Counter files of gcc, one per object; only of dumps";
                Some(PossibleValue::new("gcda").help(help))
            }
        }
    }
}

/// What the options ask for, one variant for each family.
#[derive(Clone, Copy, Debug)]
pub(super) enum Asked<'c> {
    /// Without a format: what the chosen compiler reads.
    Profile(Option<Target>),
    InstrProfile(instr_profile::Target),
    Gcda,
    Coverage(CoverageFormat),
    Review(ReviewFormat),
    #[cfg(feature = "parquet")]
    Table,
    Explanation(&'c SourceLine),
}

impl Asked<'_> {
    pub(super) const fn family(&self) -> Family {
        match self {
            Self::Profile(_) => Family::Profile,
            Self::InstrProfile(_) => Family::InstrProfile,
            Self::Gcda => Family::Gcda,
            Self::Coverage(_) => Family::Coverage,
            Self::Review(_) => Family::Review,
            #[cfg(feature = "parquet")]
            Self::Table => Family::Table,
            Self::Explanation(_) => Family::Explanation,
        }
    }
}

impl From<ConvertTarget> for Asked<'_> {
    fn from(target: ConvertTarget) -> Self {
        match target {
            ConvertTarget::Profile(target) => Self::Profile(Some(target)),
            ConvertTarget::Gcda => Self::Gcda,
            ConvertTarget::InstrProfile(target) => Self::InstrProfile(target),
            ConvertTarget::Coverage(format) => Self::Coverage(format),
            ConvertTarget::Review(format) => Self::Review(format),
            #[cfg(feature = "parquet")]
            ConvertTarget::Parquet => Self::Table,
        }
    }
}

//! Which options go with which targets, as one table. An option that would change nothing is refused, with the targets
//! that it is for. What depends on an input or on a single format is checked where that is known.

use std::prelude::v1::*;

use super::Convert;
use crate::cli::terminal::error::{Error, Result};

/// Targets that take the same options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// Counts by source position: AutoFDO, samples of LLVM, viewers.
    Profile,
    /// Counters by function, of LLVM.
    InstrProfile,
    /// Counter files of gcc.
    Gcda,
    /// Line coverage.
    Coverage,
    /// Line coverage for reviewers of a change.
    Review,
    /// Tables for engines.
    #[cfg(feature = "parquet")]
    Table,
    /// Which rules placed the counts of a line.
    Explanation,
}

/// Options that go with the same targets.
struct Row {
    /// The first of them that is given.
    given: fn(&Convert) -> Option<&'static str>,
    families: &'static [Family],
    /// What the families are, in a message.
    what: &'static str,
}

use Family::{Coverage, Explanation, Gcda, InstrProfile, Profile, Review};

const PROFILES: &str = "profiles by source position";
const COVERAGE: &str = "line coverage (--to lcov, cobertura and coverage-...)";

#[rustfmt::skip]
const TABLE: &[Row] = &[
    // --for-gcc, --for-clang, --text-stubs, --md5 and its like
    Row { given: |of| of.reader.given(), families: &[Profile], what: PROFILES },
    Row { given: |of| of.keep_summary.then_some("--keep-summary"), families: &[Profile], what: PROFILES },
    // --report, --fail-under
    Row { given: |of| of.account.given_for_profiles(), families: &[Profile], what: PROFILES },
    Row {
        given: |of| of.account.is_strict().then_some("--strict"),
        families: &[Profile, Coverage, Review],
        what: "profiles and line coverage",
    },
    Row { given: |of| of.sources.inline(), families: &[Profile, Explanation], what: PROFILES },
    // --for-llvm, --sparse
    Row { given: |of| of.wish.given(), families: &[InstrProfile], what: "--to profdata, profraw and proftext" },
    Row { given: |of| of.prefix.as_ref().map(|_| "--prefix"), families: &[Gcda], what: "--to gcda" },
    Row { given: |of| (of.strip != 0).then_some("--strip"), families: &[Gcda], what: "--to gcda" },
    // --include, --exclude, --source-root
    Row { given: |of| of.selection.given(), families: &[Coverage, Review], what: COVERAGE },
    // --fail-under-line and its like
    Row { given: |of| of.limits.given(), families: &[Coverage, Review], what: COVERAGE },
    // --against, --changed
    Row { given: |of| of.review.given(), families: &[Review], what: "--to coverage-markdown and coverage-github" },
    Row {
        given: |of| of.sources.notes(),
        families: &[Profile, Gcda, Coverage, Review, Explanation],
        what: "programs of gcc",
    },
    Row {
        given: |of| of.sources.binary(),
        families: &[Profile, InstrProfile, Coverage, Review, Explanation],
        what: "profiles and line coverage",
    },
    #[cfg(feature = "parquet")]
    Row { given: |of| (of.first != 0).then_some("--first"), families: &[Family::Table], what: "--to parquet" },
    #[cfg(feature = "parquet")]
    Row { given: |of| of.below.as_ref().map(|_| "--below"), families: &[Family::Table], what: "--to parquet" },
];

impl Family {
    const fn name(self) -> &'static str {
        match self {
            Profile => PROFILES,
            InstrProfile => "LLVM's profiles by function",
            Gcda => "--to gcda",
            Coverage => "line coverage",
            Review => "reviews of line coverage",
            #[cfg(feature = "parquet")]
            Self::Table => "--to parquet",
            Explanation => "--explain",
        }
    }
}

/// Refuses options that do not go with what is to be written.
pub(super) fn check(options: &Convert, family: Family) -> Result<()> {
    for Row { given, families, what } in TABLE {
        if let Some(option) = given(options)
            && !families.contains(&family)
        {
            let name = family.name();
            return Err(Error::new(format!("{option} is for {what}, and not for {name}")));
        }
    }
    Ok(())
}

//! Where counters are if not where the compiler laid them out.

/// How far the counters are from where the compiler laid them out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shift {
    /// In bytes; without live counters there is no such distance.
    #[cfg(feature = "live")]
    pub bytes: isize,
}

impl Shift {
    /// The place of what the compiler laid out here.
    #[inline(always)]
    pub(super) const fn place<T>(self, laid_out: *const T) -> *const T {
        #[cfg(feature = "live")]
        return laid_out.wrapping_byte_offset(self.bytes);
        #[cfg(not(feature = "live"))]
        laid_out
    }
}

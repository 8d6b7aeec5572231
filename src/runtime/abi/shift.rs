//! Where counters are if not where the compiler laid them out.

/// How far the counters are from where the compiler laid them out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shift {
    /// In bytes; without live counters there is no such distance.
    #[cfg(feature = "live")]
    pub bytes: isize,
    /// How far the image itself was from where it is now, in the process that has counted.
    #[cfg(feature = "live")]
    pub slide: isize,
}

impl Shift {
    /// How far the image was from where it is now.
    #[inline(always)]
    pub(super) const fn slide(self) -> isize {
        #[cfg(feature = "live")]
        return self.slide;
        #[cfg(not(feature = "live"))]
        0
    }

    /// The place of what the compiler laid out here.
    #[inline(always)]
    pub(super) const fn place<T>(self, laid_out: *const T) -> *const T {
        #[cfg(feature = "live")]
        return laid_out.wrapping_byte_offset(self.bytes);
        #[cfg(not(feature = "live"))]
        laid_out
    }
}

//! Atomic types with loom's inside. loom's own cannot be made in constants, nor after the threads that share
//! them have started. So all these are made of one [`Cell`], and [`start`] makes loom's part of it.

use std::sync::OnceLock;

use loom::sync::atomic::AtomicUsize as Checked;
pub use loom::sync::atomic::Ordering;

/// The inside of every atomic type here.
#[derive(Debug)]
pub struct Cell {
    initial: usize,
    checked: OnceLock<Checked>,
}

impl Cell {
    fn checked(&self) -> &Checked {
        self.checked.get_or_init(|| Checked::new(self.initial))
    }
}

/// Makes all cells of a value known to the thread that will share it.
///
/// # Safety
///
/// The value must consist only of atomic types from here.
pub unsafe fn start<T>(value: &T) {
    let number = size_of::<T>() / size_of::<Cell>();
    // SAFETY: promised by the caller.
    let cells = unsafe { std::slice::from_raw_parts(std::ptr::from_ref(value).cast(), number) };
    for cell in cells as &[Cell] {
        cell.checked();
    }
}

macro_rules! atomics {
    ($($name:ident $(<$t:ident>)? of $value:ty, from $from:expr, to $to:expr;)*) => {$(
        #[derive(Debug)]
        #[repr(transparent)]
        pub struct $name$(<$t>)?(Cell, $(std::marker::PhantomData<*mut $t>)?);

        impl$(<$t>)? $name$(<$t>)? {
            pub fn load(&self, order: Ordering) -> $value {
                $from(self.0.checked().load(order))
            }

            pub fn store(&self, value: $value, order: Ordering) {
                self.0.checked().store($to(value), order);
            }

            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                $from(self.0.checked().swap($to(value), order))
            }

            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                yes: Ordering,
                no: Ordering,
            ) -> Result<$value, $value> {
                let result =
                    self.0.checked().compare_exchange($to(current), $to(new), yes, no);
                result.map($from).map_err($from)
            }
        }

        // SAFETY: the target is shared between loom's threads, which take turns.
        unsafe impl$(<$t>)? Send for $name$(<$t>)? {}
        // SAFETY: as above.
        unsafe impl$(<$t>)? Sync for $name$(<$t>)? {}
    )*};
}

/// A number stands in the highest bits of the inside, so that it overflows as it should.
macro_rules! numbers {
    ($($name:ident of $value:ty),*) => {
        atomics! { $($name of $value, from Self::from, to Self::to;)* }

        $(impl $name {
            pub const fn new(value: $value) -> Self {
                Self(Cell { initial: Self::to(value), checked: OnceLock::new() })
            }

            const fn to(value: $value) -> usize {
                (value as usize) << (usize::BITS - <$value>::BITS)
            }

            fn from(value: usize) -> $value {
                (value >> (usize::BITS - <$value>::BITS)) as $value
            }

            pub fn fetch_add(&self, value: $value, order: Ordering) -> $value {
                Self::from(self.0.checked().fetch_add(Self::to(value), order))
            }

            pub fn fetch_sub(&self, value: $value, order: Ordering) -> $value {
                Self::from(self.0.checked().fetch_sub(Self::to(value), order))
            }

            pub fn fetch_and(&self, value: $value, order: Ordering) -> $value {
                Self::from(self.0.checked().fetch_and(Self::to(value), order))
            }

            pub fn fetch_or(&self, value: $value, order: Ordering) -> $value {
                Self::from(self.0.checked().fetch_or(Self::to(value), order))
            }

            pub fn fetch_update(
                &self,
                yes: Ordering,
                no: Ordering,
                mut change: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                let change = |value: usize| change(Self::from(value)).map(Self::to);
                let result = self.0.checked().fetch_update(yes, no, change);
                result.map(Self::from).map_err(Self::from)
            }
        })*
    };
}

numbers! { AtomicU32 of u32, AtomicUsize of usize }
#[cfg(not(feature = "halves"))]
numbers! { AtomicI64 of i64, AtomicU64 of u64 }

/// As on processors without atomic instructions for 64 bits.
#[cfg(feature = "halves")]
#[path = "../../src/runtime/atomic/halves.rs"]
mod halves;
#[cfg(feature = "halves")]
pub use halves::{AtomicI64, AtomicU64};

atomics! {
    AtomicBool of bool, from |value| value != 0, to |value| value as usize;
    AtomicPtr<T> of *mut T, from |value| value as *mut T, to |value| value as usize;
}

impl AtomicBool {
    pub const fn new(value: bool) -> Self {
        Self(Cell { initial: value as usize, checked: OnceLock::new() })
    }
}

impl<T> AtomicPtr<T> {
    /// NULL, the first value of every pointer.
    pub const fn new(_null: *mut T) -> Self {
        Self(Cell { initial: 0, checked: OnceLock::new() }, std::marker::PhantomData)
    }
}

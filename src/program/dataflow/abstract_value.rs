//! What a register or a slot of the stack holds, as far as it matters for counters.

/// A value. Where paths meet that do not agree, it is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Value {
    #[default]
    Unknown,
    /// A constant, perhaps an address.
    Constant(u64),
    /// A slot of the stack, relative to the stack pointer on entry.
    Stack(i64),
    /// The value of counters: address of the first, and size of all in bytes.
    Counter(u64, u8),
}

impl Value {
    /// The counters whose value it is: address of the first, and size of all in bytes.
    pub fn counter(self) -> Option<(u64, u8)> {
        match self {
            Self::Counter(address, size) => Some((address, size)),
            _ => None,
        }
    }

    /// The value plus an offset. That of a counter stays one if it is incremented.
    pub fn plus(self, offset: i64) -> Self {
        match self {
            Self::Constant(value) => Self::Constant(value.wrapping_add_signed(offset)),
            Self::Stack(slot) => Self::Stack(slot.wrapping_add(offset)),
            Self::Counter(..) if offset == 0 || offset == 1 => self,
            _ => Self::Unknown,
        }
    }

    /// The sum of two values, if that increments a counter. Vectors of counters are incremented by a vector of ones.
    pub fn sum(self, other: Self) -> Self {
        match (self, other) {
            (vector @ Self::Counter(_, 16..), _) | (_, vector @ Self::Counter(_, 16..)) => vector,
            (counter @ Self::Counter(..), Self::Constant(1))
            | (Self::Constant(1), counter @ Self::Counter(..)) => counter,
            _ => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets() {
        assert_eq!(Value::Constant(5).plus(-1), Value::Constant(4));
        assert_eq!(Value::Stack(-8).plus(16), Value::Stack(8));
        let counter = Value::Counter(0x4000, 8);
        assert_eq!([0, 1].map(|offset| counter.plus(offset)), [counter; 2]);
        assert_eq!([2, -1].map(|offset| counter.plus(offset)), [Value::Unknown; 2]);
        assert_eq!(Value::Unknown.plus(1), Value::Unknown);
    }

    #[test]
    fn sums() {
        let (counter, vector) = (Value::Counter(0x4000, 8), Value::Counter(0x4000, 16));
        assert_eq!(counter.sum(Value::Constant(1)), counter);
        assert_eq!(Value::Constant(1).sum(counter), counter);
        assert_eq!(counter.sum(Value::Constant(2)), Value::Unknown);
        assert_eq!(counter.sum(counter), Value::Unknown);
        assert_eq!(Value::Unknown.sum(vector), vector);
        assert_eq!(Value::Constant(1).sum(Value::Constant(1)), Value::Unknown);
    }
}

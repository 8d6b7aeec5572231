//! The counters of a mapping, the expressions over them, and their values for given counts.

use alloc::vec;
use alloc::vec::Vec;

use super::check::{Defect, Finding, Indexed};
use super::numbers::Numbers;

/// The source of a count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Counter {
    /// No counter: the code never runs.
    #[default]
    Zero,
    /// The counter with this number.
    Number(u32),
    /// The difference of the two counters of the expression with this number.
    Difference(u32),
    /// The sum of the two counters of the expression with this number.
    Sum(u32),
}

impl Counter {
    /// Decodes a counter. `numbers` is the place for a defect.
    pub(super) fn new(word: u64, numbers: &Numbers<'_>) -> Result<Self, Finding> {
        let Ok(number) = u32::try_from(word >> 2) else {
            return numbers.fail(Defect::Number(super::check::Part::Mapping));
        };
        Ok(match word & 3 {
            0 => Self::Zero,
            1 => Self::Number(number),
            2 => Self::Difference(number),
            _ => Self::Sum(number),
        })
    }

    /// The number of its expression.
    const fn expression(self) -> Option<u32> {
        match self {
            Self::Difference(number) | Self::Sum(number) => Some(number),
            Self::Zero | Self::Number(_) => None,
        }
    }
}

/// Two counters, to add or to subtract.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Expression {
    /// The first counter.
    pub left: Counter,
    /// The counter to add to the first one, or to subtract from it.
    pub right: Counter,
}

/// The values of a function's expressions. Computes each once.
pub struct Expressions<'m> {
    expressions: &'m [Expression],
    counters: &'m [u64],
    values: Vec<Value>,
    is_torn: bool,
}

#[derive(Clone, Copy, Default)]
struct Value {
    left_and_right: Option<(i128, i128)>,
    /// Whether [`Expressions::value`] is computing it; if it then needs itself, the expressions have a circle.
    is_open: bool,
}

impl<'m> Expressions<'m> {
    /// Expressions over these counts.
    pub fn new(expressions: &'m [Expression], counters: &'m [u64]) -> Self {
        let values = vec![Value::default(); expressions.len()];
        Self { expressions, counters, values, is_torn: false }
    }

    /// Whether a value was below 0: the counters contradict each other. Threads that count without atomic additions
    /// lose some executions, for instance of a function's entry, from which the count of an `else` is derived.
    pub const fn is_torn(&self) -> bool {
        self.is_torn
    }

    /// The value of a counter: 0 if it is below 0, and the largest number if it is above that. Values within
    /// expressions are exact.
    pub fn value(&mut self, counter: Counter) -> Result<u64, Defect> {
        let value = self.exact(counter)?;
        self.is_torn |= value < 0;
        Ok(u64::try_from(value.max(0)).unwrap_or(u64::MAX))
    }

    fn exact(&mut self, counter: Counter) -> Result<i128, Defect> {
        let mut open: Vec<u32> = counter.expression().into_iter().collect();
        while let Some(&number) = open.last() {
            let place = self.place(number)?;
            let Expression { left, right } = self.expressions[place];
            match (self.known(left)?, self.known(right)?) {
                (Ok(left), Ok(right)) => {
                    self.values[place] =
                        Value { left_and_right: Some((left, right)), is_open: false };
                    open.pop();
                }
                (Err(missing), _) | (_, Err(missing)) => {
                    self.values[place].is_open = true;
                    if self.values[self.place(missing)?].is_open {
                        return Err(Defect::Circle(missing));
                    }
                    open.push(missing);
                }
            }
        }
        self.known(counter)?.map_err(Defect::Circle)
    }

    /// The value of a counter, or the number of an expression to compute first.
    fn known(&self, counter: Counter) -> Result<Result<i128, u32>, Defect> {
        let number = match counter {
            Counter::Zero => return Ok(Ok(0)),
            Counter::Number(number) => {
                let count = self.counters.get(number as usize).copied();
                return count
                    .map(|count| Ok(count.into()))
                    .ok_or_else(|| index(Indexed::Counter, self.counters.len(), number));
            }
            Counter::Difference(number) | Counter::Sum(number) => number,
        };
        let Some((left, right)) = self.values[self.place(number)?].left_and_right else {
            return Ok(Err(number));
        };
        Ok(Ok(match counter {
            Counter::Sum(_) => left.saturating_add(right),
            _ => left.saturating_sub(right),
        }))
    }

    fn place(&self, number: u32) -> Result<usize, Defect> {
        let place = number as usize;
        match place < self.expressions.len() {
            true => Ok(place),
            false => Err(index(Indexed::Expression, self.expressions.len(), number)),
        }
    }
}

fn index(what: Indexed, number: usize, found: u32) -> Defect {
    Defect::Index { what, number: number as u64, found: found.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_differences() {
        let expressions = [
            Expression { left: Counter::Sum(1), right: Counter::Number(1) },
            Expression { left: Counter::Number(0), right: Counter::Number(2) },
        ];
        let mut values = Expressions::new(&expressions, &[10, 3, 4]);
        assert_eq!(values.value(Counter::Difference(0)), Ok(11));
        assert_eq!(values.value(Counter::Sum(0)), Ok(17));
        assert_eq!(values.value(Counter::Zero), Ok(0));
        assert!(matches!(values.value(Counter::Number(3)), Err(Defect::Index { .. })));
        assert!(matches!(values.value(Counter::Sum(2)), Err(Defect::Index { .. })));
    }

    #[test]
    fn circles_and_long_chains() {
        let circle = [
            Expression { left: Counter::Zero, right: Counter::Sum(1) },
            Expression { left: Counter::Sum(0), right: Counter::Zero },
        ];
        let found = Expressions::new(&circle, &[]).value(Counter::Sum(0));
        assert!(matches!(found, Err(Defect::Circle(_))));
        let long = |next: u32| Expression { left: Counter::Sum(next), right: Counter::Sum(next) };
        let mut chain: Vec<Expression> = (1..100_000).map(long).collect();
        chain.push(Expression { left: Counter::Number(0), right: Counter::Zero });
        assert_eq!(Expressions::new(&chain, &[1]).value(Counter::Sum(0)), Ok(u64::MAX));
    }

    /// `else = entries - then`, and what follows both: `then + else`.
    #[test]
    fn differences_below_zero() {
        let expressions = [
            Expression { left: Counter::Number(0), right: Counter::Number(1) },
            Expression { left: Counter::Difference(0), right: Counter::Number(1) },
        ];
        let mut values = Expressions::new(&expressions, &[100_000, 100_004]);
        assert_eq!(values.value(Counter::Sum(1)), Ok(100_000));
        assert!(!values.is_torn());
        assert_eq!(values.value(Counter::Difference(0)), Ok(0));
        assert!(values.is_torn());
    }
}

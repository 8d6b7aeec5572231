//! Generic functions, calls of trait objects, closures, conditions and a panic that is caught, for rustc.

use std::collections::BTreeMap;
use std::fmt::Debug;

trait Shape {
    fn area(&self) -> u64;

    fn twice(&self) -> u64 {
        2 * self.area()
    }
}

struct Square(u64);

struct Row<T> {
    parts: Vec<T>,
}

impl Shape for Square {
    fn area(&self) -> u64 {
        self.0 * self.0
    }
}

impl<T: Shape> Shape for Row<T> {
    fn area(&self) -> u64 {
        self.parts.iter().map(Shape::area).sum()
    }

    fn twice(&self) -> u64 {
        self.parts.iter().map(Shape::twice).sum()
    }
}

#[inline(never)]
fn largest<T: PartialOrd + Copy + Debug>(values: &[T]) -> Option<T> {
    let mut values = values.iter().copied();
    let first = values.next()?;
    Some(values.fold(first, |best, value| if value > best { value } else { best }))
}

#[inline(never)]
fn ask(shape: &dyn Shape, number: u64) -> u64 {
    if number % 3 == 0 && shape.area() > 10 { shape.twice() } else { shape.area() }
}

fn apply(functions: &[Box<dyn Fn(u64) -> u64>], number: u64) -> u64 {
    functions[number as usize % functions.len()](number)
}

fn never<T: Debug>(value: T) -> String {
    format!("{value:?}")
}

fn main() {
    let started = std::env::args().count() as u64;
    let shapes: [Box<dyn Shape>; 3] = [
        Box::new(Square(3)),
        Box::new(Row { parts: vec![Square(1), Square(4)] }),
        Box::new(Row { parts: vec![Row { parts: vec![Square(2)] }] }),
    ];
    let functions: [Box<dyn Fn(u64) -> u64>; 2] =
        [Box::new(move |x| x + started), Box::new(|x| x * 3)];
    let mut seen = BTreeMap::new();
    for number in 0..100 {
        let sum = ask(&*shapes[number as usize % 3], number) + apply(&functions, number);
        *seen.entry(sum % 7).or_insert(0) += sum;
    }
    let caught = std::panic::catch_unwind(|| {
        std::panic::set_hook(Box::new(|_| ()));
        assert!(started > 100, "few arguments");
    });
    let sums: Vec<u64> = seen.into_values().collect();
    println!("{:?} {:?} {:?}", largest(&sums), largest(&[1.5, 0.5]), largest(&['a', 'z']));
    if started > 100 {
        println!("{} {}", never(started), caught.is_ok());
    }
}

//! Indirect calls and copies of many sizes, for rustc.

fn one_more(x: u64) -> u64 {
    x + 1
}

fn twice(x: u64) -> u64 {
    x * 2
}

fn main() {
    let table: [fn(u64) -> u64; 2] = [one_more, twice];
    let number = std::env::args().count() as u64;
    let mut sum = 0;
    for i in 0..100 {
        sum += table[((i + number) % 2) as usize](i);
        let mut bytes = vec![0; (i % 17) as usize];
        bytes.copy_from_slice(&vec![1; (i % 17) as usize]);
        sum += bytes.iter().sum::<u64>();
    }
    println!("{sum}");
}

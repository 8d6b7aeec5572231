//! Ten thousand damaged files of coverage, all from one seed: no panic, a message, and the undamaged rest is used.
//!
//! | files | number | how they are read |
//! |---|---|---|
//! | `.gcda` and `.gcno` of gcc, C and C++ | 6,000 | by the tool, a hundred in a folder with undamaged ones |
//! | tar archives of these | 200 | by the tool |
//! | tracefiles of lcov | 3,800 | by the library, some by the tool |

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};

use countersink::formats::lcov;

use crate::harness::Workshop;

/// A program whose source no damaged file can name.
const UNDAMAGED: &str = "\
int main(int argc, char **argv) {
  int sum = 0;
  for (int i = 0; i < 9 * argc; i++)
    if (i % 3 == 0 || argv[0][0] == 1)
      sum += i;
  return sum == 5;
}
";

const IN_C: &str = "\
static int never(int n) { return n + 1; }
static int kind(int n) {
  switch (n % 4) { case 0: return n; case 1: return n * 2; default: return n ? 7 : never(n); }
}
int main(void) {
  int sum = 0;
  for (int i = 0; i < 100; i++)
    sum += kind(i) > 4 && i != 50 ? kind(i + 1) : 0;
  return sum == 0;
}
";

const IN_CXX: &str = "\
#include <stdexcept>
#include <vector>
template <class T> T largest(const std::vector<T> &all) {
  if (all.empty())
    throw std::runtime_error(\"empty\");
  T found = all[0];
  for (const T &one : all)
    if (found < one)
      found = one;
  return found;
}
int main() {
  try {
    largest(std::vector<int>{});
  } catch (const std::exception &) {
    return largest(std::vector<double>{1, 3, 2}) + largest(std::vector<int>{4}) == 0;
  }
}
";

/// A generator of numbers (xorshift).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// Damages a file, behind `from`.
    fn damage(&mut self, bytes: &mut Vec<u8>, from: usize) {
        let length = bytes.len() - from;
        let place = from + self.below(length);
        let end = place + self.below((bytes.len() - place).min(64));
        match self.next() % 6 {
            0 => bytes[place] ^= 1 << (self.next() % 8),
            1 => bytes[place] = self.next() as u8,
            2 => bytes.truncate(place),
            // A block twice, or not at all.
            3 => drop(bytes.splice(place..place, bytes[place..end].to_vec())),
            4 => drop(bytes.drain(place..end)),
            _ => {
                let small = self.next() as u32 % 64;
                let word = [small, small.wrapping_neg(), self.next() as u32][self.below(3)];
                let place = place & !3;
                let word = word.to_le_bytes();
                let length = word.len().min(bytes.len() - place);
                bytes[place..place + length].copy_from_slice(&word[..length]);
            }
        }
    }
}

/// A folder with counters and notes of three programs, and what the tool says of the undamaged one.
struct Counted {
    shop: Workshop,
    /// Counters and notes of the others.
    others: [[Vec<u8>; 2]; 2],
    record: String,
}

impl Counted {
    fn new() -> Self {
        let shop = Workshop::new();
        let object = |folder: &str, name: &str, compiler: &str, source: &str| {
            shop.write(&format!("{folder}/{name}"), source);
            let flags = ["--coverage", name, "-o", "program", "-dumpbase", ""];
            let folder = shop.path(folder);
            let mut compile = shop.command(compiler);
            crate::harness::succeed(compile.args(flags).current_dir(&folder));
            crate::harness::succeed(shop.command(folder.join("program")).current_dir(&folder));
            ["gcda", "gcno"].map(|end| {
                let is_it = |path: &std::path::Path| path.extension().is_some_and(|it| it == end);
                let files = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path());
                fs::read(files.into_iter().find(|path| is_it(path)).unwrap()).unwrap()
            })
        };
        let [counters, notes] = object("undamaged", "undamaged.c", "gcc", UNDAMAGED);
        shop.write("good/undamaged.gcda", counters);
        shop.write("good/undamaged.gcno", notes);
        let others =
            [object("c", "in_c.c", "gcc", IN_C), object("cxx", "in_cxx.cc", "g++", IN_CXX)];
        let tracefile = shop.tool_output(&["convert", "good", "--to", "lcov"]);
        let record = record(&String::from_utf8(tracefile).unwrap()).to_owned();
        assert!(record.contains("DA:4,9\n"), "{record}");
        Self { shop, others, record }
    }

    /// Runs the tool, which must use the undamaged counters.
    fn check(&self, input: &str, has_undamaged: bool) -> String {
        let output = self.shop.tool(&["convert", input, "--to", "lcov"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!said.is_empty() && !said.contains("panicked"), "{input}: {said}");
        let tracefile = String::from_utf8_lossy(&output.stdout);
        match has_undamaged {
            true => assert_eq!(record(&tracefile), self.record, "{input}: {said}"),
            false => assert!(matches!(output.status.code(), Some(0 | 2)), "{input}: {said}"),
        }
        said
    }
}

/// What a tracefile says of the undamaged source.
fn record(tracefile: &str) -> &str {
    let records = tracefile.split_inclusive("end_of_record\n");
    let mut ours = records.filter(|record| record.contains("/undamaged.c\n"));
    ours.next().unwrap_or_default()
}

/// Calls `work` for each number, on two threads.
fn on_two_threads(numbers: u64, work: impl Fn(u64) + Sync) {
    let next = AtomicU64::new(0);
    let some = || loop {
        match next.fetch_add(1, Ordering::Relaxed) {
            number if number < numbers => work(number),
            _ => return,
        }
    };
    std::thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(some))));
}

#[test]
#[ignore = "slow"]
fn counters_and_notes() {
    const AT_ONCE: u64 = 100;
    let counted = Counted::new();
    on_two_threads(6000 / AT_ONCE, |folder| {
        let mut numbers = Numbers(0x5eed_0000 + folder + 1);
        let shop = &counted.shop;
        for end in ["gcda", "gcno"] {
            let name = format!("undamaged.{end}");
            shop.write(&format!("d{folder}/{name}"), shop.read(format!("good/{name}")));
        }
        for number in 0..AT_ONCE {
            let mut files = counted.others[numbers.below(2)].clone();
            numbers.damage(&mut files[usize::from(number % 2 == 0)], 0);
            for (end, bytes) in ["gcda", "gcno"].iter().zip(files) {
                shop.write(&format!("d{folder}/{number}/x.{end}"), bytes);
            }
        }
        let said = counted.check(&format!("d{folder}"), true);
        assert!(said.contains("left out"), "{said}");
        fs::remove_dir_all(shop.path(format!("d{folder}"))).unwrap();
    });
}

/// The names and contents of an archive's files.
fn tar(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (name, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, name, *bytes).unwrap();
    }
    archive.into_inner().unwrap()
}

/// What stands before the damage is used, and what stands behind a damaged header.
#[test]
#[ignore = "slow"]
fn archives() {
    let counted = Counted::new();
    let good = ["gcda", "gcno"].map(|end| counted.shop.read(format!("good/undamaged.{end}")));
    let good = [("a/undamaged.gcda", &*good[0]), ("a/undamaged.gcno", &*good[1])];
    // Two blocks of zeros end an archive.
    let length_of_good = tar(&good).len() - 1024;
    on_two_threads(200, |number| {
        let mut numbers = Numbers(0x7a50_0000 + number + 1);
        let [counters, notes] = &counted.others[numbers.below(2)];
        let others = [("b/x.gcda", &**counters), ("b/x.gcno", &**notes)];
        let mut bytes = tar(&[good, others].concat());
        match number % 3 {
            0 => numbers.damage(&mut bytes, length_of_good),
            1 => numbers.damage(&mut bytes, 0),
            _ => {
                bytes = tar(&[others, good].concat());
                // By its magic it is known for an archive.
                let end = bytes.len() - length_of_good - 1024;
                let place = [numbers.below(257), 263 + numbers.below(end - 263)][numbers.below(2)];
                bytes[place] ^= 1 << numbers.below(8);
            }
        }
        let name = format!("{number}.tar");
        counted.shop.write(&name, bytes);
        counted.check(&name, number % 3 != 1);
    });
}

#[test]
fn tracefiles() {
    let counted = Counted::new();
    let whole = counted.shop.tool_output(&["convert", "c", "cxx", "good", "--to", "lcov"]);
    assert!(lcov::decode::decode(&whole).is_ok());
    let mut numbers = Numbers(0x1c0f);
    let mut damaged = Vec::new();
    for number in 0..3800 {
        let mut bytes = whole.clone();
        (0..=number % 3).for_each(|_| {
            if !bytes.is_empty() {
                numbers.damage(&mut bytes, 0);
            }
        });
        if let Err(error) = lcov::decode::decode(&bytes) {
            assert!(!error.to_string().is_empty());
            damaged.push(bytes);
        }
    }
    assert!(damaged.len() > 500, "{}", damaged.len());
    for bytes in damaged.iter().step_by(damaged.len() / 10) {
        counted.shop.write("damaged.info", bytes);
        let options = ["convert", "good", "--to", "coverage-markdown", "--against", "damaged.info"];
        let output = counted.shop.tool(&options);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("damaged.info: "), "{said}");
    }
}

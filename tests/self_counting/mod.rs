//! Makes up programs that count their own statements: the truth about each line, known without gcov.
//!
//! Each statement stands on a line of its own, as `COUNT(7) n += 3;`. With `-DCOUNTING` the macro adds one to a counter
//! of that line and that inlined copy, and the program prints all counters in the end. Without it the macro is nothing,
//! and the compiler sees the statements alone. Loops, branches and calls stand between them.
//!
//! Helpers are inlined into functions, and into each other. Each call hands on where the counters of its copy start, as
//! an argument, or as one of a template.
#![allow(dead_code, reason = "test and benchmark use some of it")]

use std::fmt::Write as _;

/// How the program is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Functions that call each other, without helpers.
    #[default]
    Plain,
    /// C with inlined helpers.
    Copies,
    /// C++ whose helpers are templates: a function of its own for each call.
    Templates,
}

/// Where a statement is: the calls that lead to its copy, and its line from the start of the function there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct At {
    /// The function.
    pub function: String,
    /// Inlined calls, outermost first: line from the caller's start, and symbol of the callee.
    pub within: Vec<(u32, String)>,
    /// Line from the start of the innermost function.
    pub line: u32,
}

/// A made-up program.
pub struct Program {
    pub text: String,
    /// The statement that each counter belongs to.
    pub counters: Vec<At>,
}

/// Makes the program of a seed. The same seed makes the same program.
pub fn program(seed: u64, kind: Kind) -> Program {
    let mut writer = Writer { kind, random: Random(seed << 32), ..Writer::default() };
    writer.program();
    let Writer { text, functions, helpers, .. } = writer;
    let mut counters = Vec::new();
    for (number, function) in functions.iter().enumerate() {
        let at = At { function: format!("f{number}"), within: Vec::new(), line: 0 };
        list(kind, &helpers, function, &at, &mut counters);
    }
    Program { text, counters }
}

/// The statements of a copy and of those inside it, in the order of their counters.
fn list(kind: Kind, helpers: &[Function], function: &Function, at: &At, counters: &mut Vec<At>) {
    counters.extend(function.lines.iter().map(|&line| At { line, ..at.clone() }));
    for &(line, helper) in &function.calls {
        let symbol = match kind {
            Kind::Templates => format!("_Z2h{helper}ILi{}EEiiii", counters.len()),
            _ => format!("h{helper}"),
        };
        let mut inner = at.clone();
        inner.within.push((line, symbol));
        list(kind, helpers, &helpers[helper], &inner, counters);
    }
}

/// Knuth's MMIX; its high bits are the better ones.
#[derive(Default)]
struct Random(u64);

impl Random {
    fn below(&mut self, end: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) % u64::from(end)) as u32
    }
}

/// What was written of a function.
#[derive(Default)]
struct Function {
    /// The line of each statement, from the function's start.
    lines: Vec<u32>,
    /// The line of each call of a helper, and which one it calls.
    calls: Vec<(u32, usize)>,
}

impl Function {
    /// The counters of a copy of it.
    fn counters(&self, helpers: &[Self]) -> usize {
        let inner = self.calls.iter().map(|&(_, helper)| helpers[helper].counters(helpers));
        self.lines.len() + inner.sum::<usize>()
    }
}

#[derive(Default)]
struct Writer {
    kind: Kind,
    random: Random,
    text: String,
    lines: u32,
    /// The line where the last function starts.
    start: u32,
    helpers: Vec<Function>,
    functions: Vec<Function>,
    current: Function,
    /// Whether the current function is a helper.
    is_helper: bool,
}

const FUNCTIONS: usize = 12;
const HELPERS: usize = 6;
const DEEPEST: u32 = 3;
/// Most counters of a helper with all that is inlined there.
const LARGEST_HELPER: usize = 60;

impl Writer {
    fn line(&mut self, line: &str) {
        writeln!(self.text, "{line}").unwrap();
        self.lines += 1;
    }

    fn program(&mut self) {
        self.line("#include <stdio.h>");
        self.line("static volatile unsigned long c[CELLS];");
        self.line("static int g[64];");
        self.line("volatile int sink;");
        self.line("#ifdef COUNTING");
        self.line("#define COUNT(k) c[ctx + k]++;");
        self.line("#else");
        self.line("#define COUNT(k)");
        self.line("#endif");
        let helpers = if self.kind == Kind::Plain { 0 } else { HELPERS };
        for number in 0..helpers {
            self.is_helper = true;
            self.line(&match self.kind {
                Kind::Templates => format!("template <int ctx> __attribute__((always_inline)) inline int h{number}(int n, int depth, int s) {{"),
                _ => format!("__attribute__((always_inline)) static inline int h{number}(int n, int depth, int s, const int ctx) {{"),
            });
            let helper = self.function(2);
            self.helpers.push(helper);
        }
        self.is_helper = false;
        let mut first = 0;
        for number in 0..FUNCTIONS {
            let c = if self.kind == Kind::Templates { "extern \"C\" " } else { "" };
            self.line(&format!(
                "{c}__attribute__((noipa)) int f{number}(int n, int depth) {{ enum {{ ctx = {first} }}; int s = n;"
            ));
            let function = self.function(0);
            first += function.counters(&self.helpers);
            self.functions.push(function);
        }
        self.line("int main(void)");
        self.line("{");
        for number in 0..FUNCTIONS {
            self.line(&format!("for (int i = 0; i < 50; i++) sink += f{number}(i, 0);"));
        }
        self.line("#ifdef COUNTING");
        self.line(&format!("for (int i = 0; i < {first}; i++) printf(\"%lu\\n\", c[i]);"));
        self.line("#endif");
        self.line("return sink == 12345;");
        self.line("}");
        self.text = self.text.replace("CELLS", &format!("{}", first.max(1)));
    }

    /// Writes the rest of a function whose head is written.
    fn function(&mut self, depth: u32) -> Function {
        self.start = self.lines;
        self.current = Function::default();
        self.block(depth);
        self.line("return (n + s) & 1023;");
        self.line("}");
        // The counters of inner copies start behind the function's own, call by call.
        let function = std::mem::take(&mut self.current);
        let mut first = function.lines.len();
        for &(line, helper) in &function.calls {
            self.text = self.text.replacen(&format!("@{line}@"), &first.to_string(), 1);
            first += self.helpers[helper].counters(&self.helpers);
        }
        function
    }

    /// A statement that is counted.
    fn statement(&mut self) {
        let a = 1 + self.random.below(9);
        let statement = match self.random.below(5) {
            0 => format!("n += {a};"),
            1 => format!("s ^= n * {a};"),
            2 => format!("g[(n + {a}) & 63] += s;"),
            3 => format!("s += g[(s ^ {a}) & 63];"),
            _ => "sink = n;".into(),
        };
        let counter = self.current.lines.len();
        self.line(&format!("COUNT({counter}) {statement}"));
        let line = self.lines - self.start;
        self.current.lines.push(line);
    }

    fn block(&mut self, depth: u32) {
        for _ in 0..1 + self.random.below(3) {
            self.statement();
            let (a, b) = (2 + self.random.below(6), 1 + self.random.below(3));
            match self.random.below(if depth < DEEPEST { 9 } else { 2 }) {
                0 => {}
                1 | 7 | 8 => self.call(),
                2 => self.within(&format!("if ((unsigned)n % {a} < {b}) {{"), "}", depth),
                3 => {
                    self.within(&format!("if ((n ^ {a}) & {b}) {{"), "} else {", depth);
                    self.within("", "}", depth);
                }
                4 => {
                    let head = format!("for (unsigned i = 0; i < (unsigned)(n + {a}) % 5; i++) {{");
                    self.within(&head, "n += i;\n}", depth);
                }
                5 => {
                    let end = format!("if ((unsigned)n % {a} == 1)\nbreak;\n}}");
                    self.within(&format!("for (int i = {b}; i > 0; i--) {{"), &end, depth);
                }
                _ => {
                    self.line(&format!("switch ((unsigned)n % {a}) {{"));
                    for case in 0..b {
                        self.within(&format!("case {case}:"), "break;", depth + 1);
                    }
                    self.line("}");
                }
            }
        }
        self.statement();
    }

    /// A call: of a helper if there are any, or else of a function.
    fn call(&mut self) {
        let a = 1 + self.random.below(9);
        let small = |helper: &Function| helper.counters(&self.helpers) <= LARGEST_HELPER;
        let small: Vec<usize> =
            (0..self.helpers.len()).filter(|&number| small(&self.helpers[number])).collect();
        if !small.is_empty() {
            let helper = small[self.random.below(small.len() as u32) as usize];
            let line = self.lines + 1 - self.start;
            let arguments = format!("n + {a}, depth, s");
            self.line(&match self.kind {
                Kind::Templates => format!("s += h{helper}<ctx + @{line}@>({arguments});"),
                _ => format!("s += h{helper}({arguments}, ctx + @{line}@);"),
            });
            self.current.calls.push((line, helper));
        } else if !self.is_helper && !self.functions.is_empty() {
            let callee = self.random.below(self.functions.len() as u32);
            self.line(&format!("if (depth < 3) n += f{callee}(n + {a}, depth + 1);"));
        }
    }

    /// A block between a head and an end, which may have several lines.
    fn within(&mut self, head: &str, end: &str, depth: u32) {
        head.lines().for_each(|line| self.line(line));
        self.block(depth + 1);
        end.lines().for_each(|line| self.line(line));
    }
}

// Solves random formulas of three variables a clause, near the ratio at which they are hard, and a colouring of
// a random graph. Arguments: number of variables, seed.
#include <cstdio>
#include <cstdlib>

#include "cadical.hpp"
#include "text.h"

static unsigned solve(CaDiCaL::Solver& solver, int variables) {
  int result = solver.solve();
  unsigned sum = result;
  if (result == 10)
    for (int v = 1; v <= variables; v++) sum = sum * 31 + (solver.val(v) > 0);
  return sum;
}

int main(int argc, char** argv) {
  int n = atoi(argv[1]);
  unsigned sum = 0;
  text_state = argc > 2 ? atoi(argv[2]) : 1;
  for (int ratio = 38; ratio <= 46; ratio++) {
    CaDiCaL::Solver solver;
    for (int clause = 0; clause < n * ratio / 10; clause++) {
      for (int k = 0; k < 3; k++) {
        int variable = 1 + text_random() % n;
        solver.add(text_random() % 2 ? variable : -variable);
      }
      solver.add(0);
    }
    sum = sum * 31 + solve(solver, n);
  }
  CaDiCaL::Solver solver;
  const int colours = 4;
  for (int node = 0; node < n; node++) {
    for (int c = 1; c <= colours; c++) solver.add(node * colours + c);
    solver.add(0);
  }
  for (int edge = 0; edge < n * 4; edge++) {
    int a = text_random() % n, b = text_random() % n;
    if (a == b) continue;
    for (int c = 1; c <= colours; c++) {
      solver.add(-(a * colours + c));
      solver.add(-(b * colours + c));
      solver.add(0);
    }
  }
  sum = sum * 31 + solve(solver, n * colours);
  printf("%u\n", sum);
  return 0;
}

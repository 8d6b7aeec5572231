// Solves random formulas of three variables a clause, with and without simplifying them before, and puts
// pigeons into too few holes. Arguments: number of variables, seed.
#include <cstdio>
#include <cstdlib>

#include "minisat/simp/SimpSolver.h"
#include "text.h"

using namespace Minisat;

static unsigned solve(SimpSolver& solver, bool simplify) {
  bool found = solver.solve(simplify, !simplify);
  unsigned sum = found ? 10 : 20;
  for (int v = 0; found && v < solver.model.size(); v++) sum = sum * 31 + (solver.model[v] == l_True);
  return sum;
}

int main(int argc, char** argv) {
  int n = atoi(argv[1]);
  unsigned sum = 0;
  text_state = argc > 2 ? atoi(argv[2]) : 1;
  for (int ratio = 38; ratio <= 46; ratio++) {
    SimpSolver solver;
    for (int v = 0; v < n; v++) solver.newVar();
    for (int clause = 0; clause < n * ratio / 10; clause++) {
      vec<Lit> literals;
      for (int k = 0; k < 3; k++) {
        Var variable = text_random() % n;
        literals.push(mkLit(variable, text_random() % 2));
      }
      solver.addClause_(literals);
    }
    sum = sum * 31 + solve(solver, ratio % 2);
  }
  SimpSolver solver;
  const int holes = 7;
  for (int v = 0; v < (holes + 1) * holes; v++) solver.newVar();
  for (int pigeon = 0; pigeon <= holes; pigeon++) {
    vec<Lit> literals;
    for (int hole = 0; hole < holes; hole++) literals.push(mkLit(pigeon * holes + hole));
    solver.addClause_(literals);
    for (int other = 0; other < pigeon; other++)
      for (int hole = 0; hole < holes; hole++)
        solver.addClause(~mkLit(pigeon * holes + hole), ~mkLit(other * holes + hole));
  }
  sum = sum * 31 + solve(solver, true);
  printf("%u\n", sum);
  return 0;
}

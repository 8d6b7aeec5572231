// Intersects, joins and offsets polygons. Arguments: number of polygons, seed.
#include <cstdio>
#include <cstdlib>

#include "clipper.hpp"
#include "text.h"

using namespace ClipperLib;

static Path polygon(int corners, int width) {
  Path path;
  cInt x = text_random() % (20 * width), y = text_random() % (20 * width);
  for (int i = 0; i < corners; i++)
    path << IntPoint(x + text_random() % width, y + text_random() % width);
  return path;
}

int main(int argc, char** argv) {
  int n = atoi(argv[1]);
  text_state = argc > 2 ? atoi(argv[2]) : 1;
  double sum = 0;
  static const ClipType types[] = { ctIntersection, ctUnion, ctDifference, ctXor };
  for (ClipType type : types) {
    Paths subjects, clips, solution;
    for (int i = 0; i < n; i++) subjects.push_back(polygon(3 + i % 9, 2000 + i % 7 * 500));
    for (int i = 0; i < n / 2; i++) clips.push_back(polygon(4 + i % 5, 3000));
    Clipper clipper;
    clipper.AddPaths(subjects, ptSubject, true);
    clipper.AddPaths(clips, ptClip, true);
    PolyTree tree;
    clipper.Execute(type, tree, pftNonZero, pftEvenOdd);
    PolyTreeToPaths(tree, solution);
    for (const Path& path : solution) sum += Area(path);
    ClipperOffset offset;
    offset.AddPaths(solution, jtRound, etClosedPolygon);
    Paths wider;
    offset.Execute(wider, 20.0);
    SimplifyPolygons(wider);
    CleanPolygons(wider);
    for (const Path& path : wider) sum += path.size() + Orientation(path);
  }
  printf("%.0f\n", sum);
  return 0;
}

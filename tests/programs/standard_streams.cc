// Streams, formatting, strings that move.
#include <algorithm>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

struct Point {
    double x, y;
};

inline std::ostream &operator<<(std::ostream &out, const Point &point)
{
    return out << '(' << std::fixed << std::setprecision(2) << point.x << ", " << point.y << ')';
}

inline std::istream &operator>>(std::istream &in, Point &point)
{
    char open, comma, close;
    return in >> open >> point.x >> comma >> point.y >> close;
}

static const std::string names[] = {"one", "a name that is too long for a short string", "three"};

int main(int argc, char **)
{
    std::stringstream text;
    for (int i = 0; i < 40; i++)
        text << Point{i * 1.5, i / 3.0} << '\n';
    std::vector<Point> points;
    for (Point point; text >> point;)
        points.push_back(point);
    std::sort(points.begin(), points.end(), [](const Point &a, const Point &b) { return a.y > b.y; });
    std::string line, all;
    for (const Point &point : points) {
        std::ostringstream out;
        out << names[points.size() % 3] << ' ' << std::hex << std::setw(8) << int(point.x) << ' ' << point;
        line = out.str();
        all += std::move(line);
    }
    std::transform(all.begin(), all.end(), all.begin(), [](unsigned char c) { return char(toupper(c)); });
    std::cout << points.size() << ' ' << all.size() << ' ' << all.find("NAME") << '\n';
    return points.size() == size_t(argc);
}

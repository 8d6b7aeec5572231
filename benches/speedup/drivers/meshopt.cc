// Makes a hilly mesh, indexes it, reorders it for caches, simplifies it, cuts it into meshlets, encodes and decodes it.
// Arguments: side of the mesh, seed.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vector>

#include "meshoptimizer.h"
extern "C" {
#include "text.h"
}

struct Vertex {
    float place[3];
    float normal[3];
};

static unsigned sum_of(const void *bytes, size_t length)
{
    unsigned sum = 0;
    for (size_t i = 0; i < length; i++)
        sum = sum * 31 + static_cast<const unsigned char *>(bytes)[i];
    return sum;
}

int main(int argc, char **argv)
{
    const unsigned side = atoi(argv[1]);
    text_state = argc > 2 ? atoi(argv[2]) : 1;
    const float bend = 1 + text_random() % 9;
    std::vector<Vertex> corners;
    auto corner = [&](unsigned x, unsigned y) {
        float u = float(x) / side, v = float(y) / side;
        corners.push_back({ { u, v, 0.1f * sinf(bend * u) * cosf(5 * v) }, { 0, 0, 1 } });
    };
    for (unsigned y = 0; y < side; y++)
        for (unsigned x = 0; x < side; x++) {
            corner(x, y), corner(x + 1, y), corner(x, y + 1);
            corner(x + 1, y), corner(x + 1, y + 1), corner(x, y + 1);
        }
    const size_t number = corners.size();
    std::vector<unsigned> remap(number), indices(number);
    size_t unique = meshopt_generateVertexRemap(&remap[0], nullptr, number, &corners[0], number, sizeof(Vertex));
    std::vector<Vertex> vertices(unique);
    meshopt_remapIndexBuffer(&indices[0], nullptr, number, &remap[0]);
    meshopt_remapVertexBuffer(&vertices[0], &corners[0], number, sizeof(Vertex), &remap[0]);
    meshopt_optimizeVertexCache(&indices[0], &indices[0], number, unique);
    meshopt_optimizeOverdraw(&indices[0], &indices[0], number, vertices[0].place, unique, sizeof(Vertex), 1.05f);
    meshopt_optimizeVertexFetch(&vertices[0], &indices[0], number, &vertices[0], unique, sizeof(Vertex));
    unsigned sum = sum_of(&indices[0], number * sizeof(unsigned));

    std::vector<unsigned> fewer(number);
    size_t kept = meshopt_simplify(&fewer[0], &indices[0], number, vertices[0].place, unique, sizeof(Vertex), number / 5, 1e-2f);
    sum = sum * 31 + sum_of(&fewer[0], kept * sizeof(unsigned));

    const size_t most = meshopt_buildMeshletsBound(number, 64, 96);
    std::vector<meshopt_Meshlet> meshlets(most);
    std::vector<unsigned> meshlet_vertices(most * 64);
    std::vector<unsigned char> triangles(most * 96 * 3);
    size_t parts = meshopt_buildMeshlets(&meshlets[0], &meshlet_vertices[0], &triangles[0], &indices[0], number,
                                         vertices[0].place, unique, sizeof(Vertex), 64, 96, 0.f);
    sum = sum * 31 + static_cast<unsigned>(parts);

    std::vector<unsigned char> packed(meshopt_encodeIndexBufferBound(number, unique));
    packed.resize(meshopt_encodeIndexBuffer(&packed[0], packed.size(), &indices[0], number));
    if (meshopt_decodeIndexBuffer(&indices[0], number, sizeof(unsigned), &packed[0], packed.size()))
        return 1;
    sum = sum * 31 + sum_of(&packed[0], packed.size());
    packed.assign(meshopt_encodeVertexBufferBound(unique, sizeof(Vertex)), 0);
    packed.resize(meshopt_encodeVertexBuffer(&packed[0], packed.size(), &vertices[0], unique, sizeof(Vertex)));
    if (meshopt_decodeVertexBuffer(&vertices[0], unique, sizeof(Vertex), &packed[0], packed.size()))
        return 1;
    printf("%u\n", sum * 31 + sum_of(&packed[0], packed.size()));
    return 0;
}

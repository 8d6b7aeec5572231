//! What belongs to each vertex of a graph, in one piece of memory.

use alloc::vec::Vec;

/// Lists of items, one list for each vertex.
#[derive(Default)]
pub struct Adjacency<T> {
    /// Where each vertex's items start, and the end of the last one's.
    starts: Vec<u32>,
    items: Vec<T>,
}

impl<T: Copy> Adjacency<T> {
    /// Sorts items, each with its vertex, into the lists of that many vertices. Each list keeps their order.
    pub fn new(vertices: usize, items: impl Iterator<Item = (u32, T)> + Clone) -> Self {
        let mut lists = Self { starts: Vec::new(), items: Vec::new() };
        lists.fill(vertices, items);
        lists
    }

    /// The same in place of other lists.
    pub fn fill(&mut self, vertices: usize, items: impl Iterator<Item = (u32, T)> + Clone) {
        let Self { starts, items: sorted } = self;
        starts.clear();
        starts.resize(vertices + 2, 0);
        sorted.clear();
        for (vertex, _) in items.clone() {
            starts[vertex as usize + 2] += 1;
        }
        for vertex in 2..starts.len() {
            starts[vertex] += starts[vertex - 1];
        }
        let Some((_, first)) = items.clone().next() else { return };
        sorted.resize(starts[vertices + 1] as usize, first);
        for (vertex, item) in items {
            // Ends up where the next vertex's items start.
            let next = &mut starts[vertex as usize + 1];
            sorted[*next as usize] = item;
            *next += 1;
        }
    }

    /// The items of a vertex.
    pub fn of(&self, vertex: u32) -> &[T] {
        let vertex = vertex as usize;
        &self.items[self.starts[vertex] as usize..self.starts[vertex + 1] as usize]
    }

    /// Number of vertices.
    pub fn vertices(&self) -> u32 {
        self.starts.len() as u32 - 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_of_vertices() {
        let items = [(2, 'c'), (0, 'a'), (2, 'd'), (0, 'b')];
        let lists = Adjacency::new(4, items.into_iter());
        assert_eq!(lists.vertices(), 4);
        let all: Vec<&[char]> = (0..4).map(|vertex| lists.of(vertex)).collect();
        assert_eq!(all, [&['a', 'b'][..], &[], &['c', 'd'], &[]]);
        let none = Adjacency::<char>::new(1, [].into_iter());
        assert_eq!(none.of(0), []);
    }
}

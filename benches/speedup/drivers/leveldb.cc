// Writes, reads, deletes, compacts and iterates, in memory. Arguments: thousands of keys, seed.
// Compactions run between operations instead of in a thread, so that each run does the same.
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string>
#include <utility>

#include "helpers/memenv/memenv.h"
#include "leveldb/cache.h"
#include "leveldb/db.h"
#include "leveldb/env.h"
#include "leveldb/filter_policy.h"
#include "leveldb/write_batch.h"
#include "text.h"

struct InTurn : leveldb::EnvWrapper {
  explicit InTurn(leveldb::Env* base) : EnvWrapper(base) {}
  void Schedule(void (*work)(void*), void* argument) override { waiting.emplace_back(work, argument); }
  void run() {
    while (!waiting.empty()) {
      auto [work, argument] = waiting.front();
      waiting.pop_front();
      work(argument);
    }
  }
  std::deque<std::pair<void (*)(void*), void*>> waiting;
};

int main(int argc, char** argv) {
  int n = atoi(argv[1]) * 1000;
  std::string text(text_make(1 << 20, argc > 2 ? atoi(argv[2]) : 1));
  InTurn env(leveldb::NewMemEnv(leveldb::Env::Default()));
  leveldb::Options options;
  options.create_if_missing = true;
  options.env = &env;
  options.write_buffer_size = 256 << 10;
  options.max_file_size = 512 << 10;
  options.block_cache = leveldb::NewLRUCache(1 << 20);
  options.filter_policy = leveldb::NewBloomFilterPolicy(10);
  leveldb::DB* db;
  if (!leveldb::DB::Open(options, "/db", &db).ok()) return 1;
  env.run();
  auto key = [](int i) {
    char name[16];
    snprintf(name, sizeof name, "key%08u", i * 2654435761u % 1000000u);
    return std::string(name);
  };
  size_t sum = 0;
  for (int i = 0; i < n; i++) {
    size_t at = text_random() % (text.size() - 200);
    if (i % 10 == 0) {
      leveldb::WriteBatch batch;
      for (int k = 0; k < 5; k++) batch.Put(key(i + k), text.substr(at + k, 20));
      batch.Delete(key(i / 2));
      db->Write(leveldb::WriteOptions(), &batch);
    } else {
      db->Put(leveldb::WriteOptions(), key(i), text.substr(at, 30 + at % 100));
    }
    env.run();
    std::string value;
    if (i % 3 == 0 && db->Get(leveldb::ReadOptions(), key(text_random() % (i + 1)), &value).ok()) sum += value.size();
    env.run();
  }
  leveldb::Iterator* it = db->NewIterator(leveldb::ReadOptions());
  for (it->SeekToFirst(); it->Valid(); it->Next()) sum = sum * 31 + it->value().size();
  for (int i = 0; i < n / 10; i++) {
    it->Seek(key(i * 17));
    for (int k = 0; k < 5 && it->Valid(); k++, it->Prev()) sum += it->key().size();
  }
  delete it;
  printf("%zu\n", sum);
  env.run();
  delete db;
  return 0;
}

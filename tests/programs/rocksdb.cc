/* Uses RocksDB in many ways: tables and memory of several kinds, merging, compaction, iterators,
 * snapshots, column families, a checkpoint, transactions. Databases are made in the folder. */
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
#include "rocksdb/db.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/options.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/statistics.h"
#include "rocksdb/table.h"
#include "rocksdb/cache.h"
#include "rocksdb/write_batch.h"
#include "rocksdb/memtablerep.h"
#include "rocksdb/utilities/transaction_db.h"
#include "rocksdb/utilities/checkpoint.h"
using namespace rocksdb;
struct Append : AssociativeMergeOperator {
  bool Merge(const Slice&, const Slice* old, const Slice& v, std::string* out, Logger*) const override {
    if (old) out->assign(old->data(), old->size()); else out->clear();
    if (out->size() < 200) out->append(v.data(), v.size());
    return true;
  }
  const char* Name() const override { return "Append"; }
};
static std::string key(unsigned i) { char b[32]; snprintf(b, sizeof b, "key%08u", i * 2654435761u % 1000000u); return b; }
static void work(const std::string& path, Options o, int n) {
  DestroyDB(path, o);
  DB* db; Status s = DB::Open(o, path, &db);
  if (!s.ok()) { fprintf(stderr, "%s\n", s.ToString().c_str()); exit(1); }
  for (int i = 0; i < n; i++) {
    s = db->Put(WriteOptions(), key(i), std::string(50 + i % 100, 'a' + i % 26));
    if (i % 7 == 0) db->Merge(WriteOptions(), key(i % 500), "xy");
    if (i % 11 == 0) db->Delete(WriteOptions(), key(i / 2));
    if (i % 5000 == 4999) db->Flush(FlushOptions());
  }
  WriteBatch b; for (int i = 0; i < 1000; i++) { b.Put(key(i), "batch"); if (i % 9 == 0) b.Delete(key(i + 3)); }
  db->Write(WriteOptions(), &b);
  db->DeleteRange(WriteOptions(), db->DefaultColumnFamily(), "key00500000", "key00510000");
  std::string v; size_t found = 0;
  const Snapshot* snap = db->GetSnapshot();
  for (int i = 0; i < n; i++) found += db->Get(ReadOptions(), key(i * 3), &v).ok();
  ReadOptions ro; ro.snapshot = snap;
  Iterator* it = db->NewIterator(ro);
  for (it->SeekToFirst(); it->Valid(); it->Next()) found += it->value().size();
  for (it->SeekToLast(); it->Valid(); it->Prev()) found += it->key().size();
  for (int i = 0; i < 1000; i++) { it->Seek(key(i * 17)); if (it->Valid()) found++; it->SeekForPrev(key(i)); }
  delete it; db->ReleaseSnapshot(snap);
  std::vector<Slice> ks; std::vector<std::string> st, vs; for (int i = 0; i < 100; i++) st.push_back(key(i)); for (auto& x : st) ks.push_back(x);
  db->MultiGet(ReadOptions(), ks, &vs);
  db->CompactRange(CompactRangeOptions(), nullptr, nullptr);
  ColumnFamilyHandle* cf; db->CreateColumnFamily(ColumnFamilyOptions(o), "other", &cf);
  for (int i = 0; i < 2000; i++) db->Put(WriteOptions(), cf, key(i), "v");
  db->Flush(FlushOptions(), cf); db->DropColumnFamily(cf); db->DestroyColumnFamilyHandle(cf);
  Checkpoint* cp; if (Checkpoint::Create(db, &cp).ok()) { std::string c = path + "_cp"; DestroyDB(c, o); cp->CreateCheckpoint(c); delete cp; }
  db->GetProperty("rocksdb.stats", &v);
  printf("%s %zu\n", path.c_str(), found);
  delete db;
  s = DB::Open(o, path, &db); if (s.ok()) delete db;
}
int main(int argc, char** argv) {
  int n = argc > 1 ? atoi(argv[1]) : 20000;
  Options o; o.create_if_missing = true; o.merge_operator.reset(new Append); o.compression = kNoCompression;
  o.write_buffer_size = 1 << 20; o.target_file_size_base = 1 << 20; o.statistics = CreateDBStatistics();
  work("db1", o, n);
  BlockBasedTableOptions t; t.filter_policy.reset(NewBloomFilterPolicy(10, false)); t.index_type = BlockBasedTableOptions::kTwoLevelIndexSearch; t.partition_filters = true; t.block_cache = NewLRUCache(1 << 20);
  o.table_factory.reset(NewBlockBasedTableFactory(t)); o.compaction_style = kCompactionStyleUniversal; o.max_background_jobs = 4;
  work("db2", o, n);
  o.table_factory.reset(NewBlockBasedTableFactory()); o.memtable_factory.reset(NewHashSkipListRepFactory(1000)); o.prefix_extractor.reset(NewFixedPrefixTransform(6)); o.allow_concurrent_memtable_write = false; o.compaction_style = kCompactionStyleLevel;
  work("db3", o, n / 2);
  TransactionDB* tdb; Options to; to.create_if_missing = true; TransactionDBOptions td;
  DestroyDB("db4", to);
  if (TransactionDB::Open(to, td, "db4", &tdb).ok()) {
    for (int i = 0; i < 2000; i++) { auto* x = tdb->BeginTransaction(WriteOptions()); x->Put(key(i), "1"); std::string v; x->Get(ReadOptions(), key(i / 2), &v); x->GetForUpdate(ReadOptions(), key(i / 3), &v); if (i % 5) x->Commit(); else x->Rollback(); delete x; }
    delete tdb;
  }
}

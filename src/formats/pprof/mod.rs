//! Profiles for `pprof`. This module writes them, and does not read them.
//!
//! The file is a message of Protocol Buffers, compressed by gzip. Numbers are varints; messages and strings follow
//! their lengths; repeated numbers are packed. Strings are indexes in the table of strings, whose first string is
//! empty.
//!
//! | message | field | contents |
//! |---|---|---|
//! | Profile | 1 | ValueType: `executions` in `count`, then `calls` in `count` |
//! | | 2 | Sample |
//! | | 3 | Mapping |
//! | | 4 | Location |
//! | | 5 | Function |
//! | | 6 | string |
//! | | 14 | string index: the type to show first, `executions` |
//! | ValueType | 1, 2 | string indexes: type, unit |
//! | Sample | 1 | ids of locations, the innermost first |
//! | | 2 | a number for each ValueType |
//! | Mapping | 1, 5, 6 | id; string indexes: file, build-id |
//! | | 7 to 10 | 1: functions, files, lines and inlined frames are known |
//! | Location | 1, 2 | id, id of the mapping |
//! | | 4 | Line of the innermost function, then Lines of the functions that it is inlined in |
//! | Line | 1, 2 | id of the function, line |
//! | Function | 1, 5 | id, line of the declaration |
//! | | 2, 3, 4 | string indexes: name to show, name in the object file, file |
//!
//! Each position is a location. A sample of calls has the location of the target, and behind it that of the call. If
//! the line of the declaration is unknown, lines are distances from it.
//!
//! Sources: `proto/profile.proto` of github.com/google/pprof; RFC 1952 (gzip).

pub mod encode;
mod message;

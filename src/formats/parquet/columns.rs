//! Writes a table's columns row group by row group. The encoders of the two tables fill the columns.

use std::io;
use std::prelude::v1::*;
use std::sync::Arc;

use bytes_of::Decimals;
use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, FixedLenByteArrayType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{ColumnPath, Type};

use super::{TABLE, VERSION, VERSION_KEY};

/// Digits of a count.
const DIGITS: i32 = 20;
/// Bytes of a count.
const COUNT_BYTES: usize = 9;
/// Largest dictionary of a column, in bytes. Layouts of modules are few and large.
const DICTIONARY: usize = 64 << 20;

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// UTF-8.
    Text,
    /// Any bytes.
    Bytes,
    /// 32 bits with a sign.
    Int,
    /// 64 bits with a sign.
    Long,
    /// A whole decimal number of up to 20 digits, enough for 64 bits.
    Count,
}

/// The values of a column.
#[derive(Debug)]
pub enum Column {
    /// Text or bytes.
    Bytes(Vec<ByteArray>),
    /// 32 bits.
    Int(Vec<i32>),
    /// 64 bits.
    Long(Vec<i64>),
    /// Counts.
    Count(Vec<i128>),
}

mod bytes_of {
    use std::prelude::v1::*;

    use parquet::data_type::{ByteArray, FixedLenByteArray};

    use super::COUNT_BYTES;

    /// Counts as Parquet stores them, with the highest byte first.
    pub struct Decimals(pub Vec<FixedLenByteArray>);

    impl From<&[i128]> for Decimals {
        fn from(counts: &[i128]) -> Self {
            let mut all = Vec::with_capacity(counts.len() * COUNT_BYTES);
            for count in counts {
                all.extend_from_slice(&count.to_be_bytes()[16 - COUNT_BYTES..]);
            }
            let all = ByteArray::from(all);
            let slice = |place: usize| all.slice(place * COUNT_BYTES, COUNT_BYTES).into();
            Self((0..counts.len()).map(slice).collect())
        }
    }
}

/// Writes a file.
pub struct Writer<'o> {
    /// Holds the bytes of a row group until it is complete.
    file: SerializedFileWriter<Vec<u8>>,
    out: &'o mut dyn io::Write,
    rows: u64,
}

impl<'o> Writer<'o> {
    /// Begins a table of this name with these columns.
    pub fn new(
        table: &str,
        columns: &[(&str, Kind)],
        out: &'o mut dyn io::Write,
    ) -> io::Result<Self> {
        let metadata = [(TABLE, table.to_owned()), (VERSION_KEY, VERSION.to_string())];
        let metadata = metadata.map(|(key, value)| KeyValue::new(key.to_owned(), value));
        let mut properties = WriterProperties::builder()
            .set_created_by(format!("countersink {}", env!("CARGO_PKG_VERSION")))
            .set_compression(Compression::SNAPPY)
            .set_dictionary_page_size_limit(DICTIONARY)
            .set_key_value_metadata(Some(metadata.into()));
        for (name, _) in columns.iter().filter(|(_, kind)| *kind == Kind::Bytes) {
            // With the default limit, a page would hold only one large value.
            properties =
                properties.set_column_data_page_size_limit(ColumnPath::from(*name), DICTIONARY);
        }
        let schema = schema(table, columns).map_err(io_error)?;
        let file =
            SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties.build()));
        Ok(Self { file: file.map_err(io_error)?, out, rows: 0 })
    }

    /// Writes a row group.
    pub fn write_group(&mut self, columns: &[&Column]) -> io::Result<()> {
        let mut group = self.file.next_row_group().map_err(io_error)?;
        for column in columns {
            let Some(mut writer) = group.next_column().map_err(io_error)? else { break };
            write_column(&mut writer, column).map_err(io_error)?;
            writer.close().map_err(io_error)?;
        }
        self.rows += group.close().map_err(io_error)?.num_rows().unsigned_abs();
        self.write_out()
    }

    fn write_out(&mut self) -> io::Result<()> {
        self.file.flush()?;
        self.out.write_all(&std::mem::take(self.file.inner_mut()))
    }

    /// Ends the file. Gives the number of its rows.
    pub fn finish(mut self) -> io::Result<u64> {
        self.file.finish().map_err(io_error)?;
        self.write_out()?;
        Ok(self.rows)
    }
}

fn write_column(
    writer: &mut SerializedColumnWriter<'_>,
    column: &Column,
) -> Result<usize, ParquetError> {
    match column {
        Column::Bytes(values) => writer.typed::<ByteArrayType>().write_batch(values, None, None),
        Column::Int(values) => writer.typed::<Int32Type>().write_batch(values, None, None),
        Column::Long(values) => writer.typed::<Int64Type>().write_batch(values, None, None),
        Column::Count(values) => {
            let Decimals(values) = Decimals::from(&values[..]);
            writer.typed::<FixedLenByteArrayType>().write_batch(&values, None, None)
        }
    }
}

fn schema(table: &str, columns: &[(&str, Kind)]) -> Result<Type, ParquetError> {
    let fields = columns.iter().map(|&(name, kind)| {
        let field = |physical| {
            Type::primitive_type_builder(name, physical).with_repetition(Repetition::REQUIRED)
        };
        let field = match kind {
            Kind::Text => field(Physical::BYTE_ARRAY)
                .with_logical_type(Some(LogicalType::String))
                .with_converted_type(ConvertedType::UTF8),
            Kind::Bytes => field(Physical::BYTE_ARRAY),
            Kind::Int => field(Physical::INT32),
            Kind::Long => field(Physical::INT64),
            Kind::Count => field(Physical::FIXED_LEN_BYTE_ARRAY)
                .with_length(COUNT_BYTES as i32)
                .with_converted_type(ConvertedType::DECIMAL)
                .with_precision(DIGITS)
                .with_scale(0),
        };
        field.build().map(Arc::new)
    });
    let fields = fields.collect::<Result<_, _>>()?;
    Type::group_type_builder(table).with_fields(fields).build()
}

fn io_error(error: ParquetError) -> io::Error {
    io::Error::other(error)
}

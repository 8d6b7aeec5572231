//! Reads the rows of a table in batches, and gives row group, row and column of a defect. The decoders of the two
//! tables know what the columns mean.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::prelude::v1::*;
use std::sync::Once;

use parquet::basic::{Compression, ConvertedType, LogicalType, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{
    ByteArray, ByteArrayType, DataType, FixedLenByteArrayType, Int32Type, Int64Type,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaDataReader};
use parquet::file::reader::{ChunkReader, FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::statistics::Statistics;
use parquet::schema::types::ColumnDescriptor;

use super::check::{Defect, Fault};
use super::{TABLE, pages};

/// Most bytes of a decimal number. They hold 38 digits.
const LONGEST_DECIMAL: usize = size_of::<i128>();

/// Number of rows of a batch.
const BATCH: usize = 1 << 13;

/// The type that a column must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text or bytes.
    Bytes,
    /// Whole numbers of any size.
    Number,
}

/// A column to read.
pub type Wanted = (&'static str, Kind);

/// An open file.
pub struct Table {
    file: Box<dyn FileReader>,
}

/// Rows of a row group.
pub struct Batch {
    wanted: Vec<Wanted>,
    columns: Vec<Values>,
    group: usize,
    /// Number of the first row in the group.
    first: usize,
    rows: usize,
}

#[derive(Debug)]
enum Values {
    Bytes(Vec<ByteArray>),
    Numbers(Vec<i128>),
}

/// Installs a panic hook that prints nothing for a panic that [`without_panic`] catches.
fn hide_caught_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |what| {
            if !IS_CAUGHT.get() {
                usual(what);
            }
        }));
    });
}

thread_local! {
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Turns a panic of the crate into a defect of the file.
pub fn without_panic<T>(read: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    hide_caught_panics();
    let before = IS_CAUGHT.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(read));
    IS_CAUGHT.set(before);
    result.unwrap_or(Err(Fault::of_file(Defect::Unexpected)))
}

impl Table {
    /// Reads the metadata of a file.
    pub fn open<R: ChunkReader + 'static>(source: R) -> Result<Self, Fault> {
        let metadata = ParquetMetaDataReader::new().parse_and_finish(&source);
        let metadata = metadata.map_err(|error| Fault::of_file(of(error)))?;
        for (group, columns) in metadata.row_groups().iter().enumerate() {
            // The columns of a group without rows have no pages, and some writers give them no true place.
            if columns.num_rows() == 0 {
                continue;
            }
            for chunk in columns.columns() {
                let at = |defect| Fault { group: Some(group), ..Fault::of_file(defect) };
                check_compression(chunk).map_err(at)?;
                pages::check(&source, chunk).map_err(at)?;
            }
        }
        let file = SerializedFileReader::new(source).map_err(|error| Fault::of_file(of(error)))?;
        Ok(Self { file: Box::new(file) })
    }

    /// The table's name in the metadata. Many engines do not keep it.
    pub fn name(&self) -> Option<&str> {
        let metadata = self.file.metadata().file_metadata().key_value_metadata()?;
        metadata.iter().find(|entry| entry.key == TABLE)?.value.as_deref()
    }

    /// Whether the table has a column of this name.
    pub fn has(&self, name: &str) -> bool {
        self.place(name).is_some()
    }

    fn place(&self, name: &str) -> Option<usize> {
        let columns = self.file.metadata().file_metadata().schema_descr().columns();
        columns
            .iter()
            .position(|column| column.path().parts() == [name] && column.max_rep_level() == 0)
    }

    /// Number of row groups.
    pub fn groups(&self) -> usize {
        self.file.num_row_groups()
    }

    /// The smallest number of a column in a row group, if the file has its statistics.
    pub fn least(&self, name: &str, group: usize) -> Option<i64> {
        let column = self.place(name)?;
        match self.file.metadata().row_groups().get(group)?.columns().get(column)?.statistics()? {
            Statistics::Int32(found) => found.min_opt().map(|&least| least.into()),
            Statistics::Int64(found) => found.min_opt().copied(),
            _ => None,
        }
    }

    /// Reads some columns of a row group.
    pub fn read(
        &self,
        group: usize,
        wanted: &[Wanted],
        mut visit: impl FnMut(&Batch) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let at = |fault: Fault| Fault { group: Some(group), ..fault };
        let reader =
            self.file.get_row_group(group).map_err(|error| at(Fault::of_file(of(error))))?;
        let expected = u64::try_from(reader.metadata().num_rows()).unwrap_or(0);
        if reader.metadata().num_rows() == 0 {
            return Ok(());
        }
        let mut sources = Vec::with_capacity(wanted.len());
        for &column in wanted {
            sources.push(self.source(&*reader, column).map_err(at)?);
        }
        let mut batch =
            Batch { wanted: wanted.into(), columns: Vec::new(), group, first: 0, rows: 0 };
        let mut buffer = Vec::new();
        while (batch.first as u64) < expected {
            batch.rows = (expected - batch.first as u64).min(BATCH as u64) as usize;
            batch.columns.clear();
            for (source, &(name, _)) in sources.iter_mut().zip(wanted) {
                let values = source.read(batch.rows, &mut buffer);
                let values = values.map_err(|defect| at(Fault::of_column(name, defect)))?;
                if let Some(row) = buffer.iter().position(|&level| level == 0) {
                    return Err(batch.fault(row, name, Defect::Null));
                }
                if values.len() < batch.rows {
                    let found = (batch.first + values.len()) as u64;
                    return Err(at(Fault::of_column(name, Defect::Short { expected, found })));
                }
                batch.columns.push(values);
            }
            visit(&batch)?;
            batch.first += batch.rows;
        }
        Ok(())
    }

    fn source(&self, group: &dyn RowGroupReader, (name, kind): Wanted) -> Result<Source, Fault> {
        let fail = |defect| Fault::of_column(name, defect);
        let place = self.place(name).ok_or_else(|| fail(Defect::Missing))?;
        let reader = group.get_column_reader(place).map_err(|error| fail(of(error)))?;
        let schema = self.file.metadata().file_metadata().schema_descr();
        let column = schema.column(place);
        Source::of(reader, &column, kind).ok_or_else(|| {
            let expected = match kind {
                Kind::Bytes => "text or bytes",
                Kind::Number => "whole numbers of up to 38 digits",
            };
            let found = match column.logical_type_ref() {
                Some(LogicalType::Decimal(_)) => {
                    format!("DECIMAL({}, {})", column.type_precision(), column.type_scale())
                }
                Some(logical) => format!("{} ({logical:?})", column.physical_type()),
                None => column.physical_type().to_string(),
            };
            fail(Defect::Type { expected, found })
        })
    }
}

impl Batch {
    /// Number of rows.
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// Text or bytes of a row. `column` is the index of the column among the wanted ones.
    pub fn bytes(&self, row: usize, column: usize) -> &[u8] {
        match self.columns.get(column) {
            Some(Values::Bytes(values)) => values.get(row).map_or(&[], ByteArray::data),
            _ => &[],
        }
    }

    /// A number of a row.
    pub fn number(&self, row: usize, column: usize) -> i128 {
        match self.columns.get(column) {
            Some(Values::Numbers(values)) => values.get(row).copied().unwrap_or(0),
            _ => 0,
        }
    }

    /// A number of a row. One outside of this range is a defect.
    pub fn within(
        &self,
        row: usize,
        column: usize,
        least: i128,
        most: i128,
    ) -> Result<i128, Fault> {
        match self.number(row, column) {
            found if found < least && least == 0 => {
                Err(self.wrong(row, column, Defect::Negative(found)))
            }
            found if found < least || found > most => {
                Err(self.wrong(row, column, Defect::Number { most, found }))
            }
            found => Ok(found),
        }
    }

    /// A defect of a value.
    pub fn wrong(&self, row: usize, column: usize, defect: Defect) -> Fault {
        let name = self.wanted.get(column).map_or("", |(name, _)| name);
        self.fault(row, name, defect)
    }

    fn fault(&self, row: usize, name: &'static str, defect: Defect) -> Fault {
        Fault { group: Some(self.group), row: Some(self.first + row), column: Some(name), defect }
    }
}

impl Values {
    const fn len(&self) -> usize {
        match self {
            Self::Bytes(values) => values.len(),
            Self::Numbers(values) => values.len(),
        }
    }
}

/// A column of a row group.
enum Source {
    Bytes(ColumnReaderImpl<ByteArrayType>),
    Int(ColumnReaderImpl<Int32Type>, bool),
    Long(ColumnReaderImpl<Int64Type>, bool),
    Decimal(ColumnReaderImpl<ByteArrayType>),
    FixedDecimal(ColumnReaderImpl<FixedLenByteArrayType>),
}

impl Source {
    /// `None` if the column is of another type.
    fn of(reader: ColumnReader, column: &ColumnDescriptor, kind: Kind) -> Option<Self> {
        let logical = column.logical_type_ref();
        let converted = column.converted_type();
        let is_decimal = matches!(logical, Some(LogicalType::Decimal { .. }))
            || converted == ConvertedType::DECIMAL;
        let is_plain = logical.is_none() && converted == ConvertedType::NONE;
        let is_integer = matches!(logical, Some(LogicalType::Integer { .. }))
            || is_plain
            || matches!(
                converted,
                ConvertedType::UINT_8
                    | ConvertedType::UINT_16
                    | ConvertedType::UINT_32
                    | ConvertedType::UINT_64
                    | ConvertedType::INT_8
                    | ConvertedType::INT_16
                    | ConvertedType::INT_32
                    | ConvertedType::INT_64
            );
        let is_unsigned = matches!(converted, ConvertedType::UINT_32 | ConvertedType::UINT_64);
        let is_whole = is_integer || (is_decimal && column.type_scale() == 0);
        Some(match (reader, kind) {
            (ColumnReader::ByteArrayColumnReader(reader), Kind::Bytes) if !is_decimal => {
                Self::Bytes(reader)
            }
            (ColumnReader::Int32ColumnReader(reader), Kind::Number) if is_whole => {
                Self::Int(reader, is_unsigned)
            }
            (ColumnReader::Int64ColumnReader(reader), Kind::Number) if is_whole => {
                Self::Long(reader, is_unsigned)
            }
            (ColumnReader::ByteArrayColumnReader(reader), Kind::Number)
                if is_decimal && column.type_scale() == 0 =>
            {
                Self::Decimal(reader)
            }
            (ColumnReader::FixedLenByteArrayColumnReader(reader), Kind::Number)
                if is_decimal
                    && column.type_scale() == 0
                    && column.physical_type() == Physical::FIXED_LEN_BYTE_ARRAY
                    && usize::try_from(column.type_length())
                        .is_ok_and(|bytes| bytes <= LONGEST_DECIMAL) =>
            {
                Self::FixedDecimal(reader)
            }
            _ => return None,
        })
    }

    /// The values of the next rows. `levels` gets a 0 for each missing value, and stays empty if the column
    /// has no missing values.
    fn read(&mut self, rows: usize, levels: &mut Vec<i16>) -> Result<Values, Defect> {
        Ok(match self {
            Self::Bytes(reader) => Values::Bytes(values(reader, rows, levels)?),
            Self::Int(reader, is_unsigned) => {
                let number =
                    |value: i32| if *is_unsigned { i128::from(value as u32) } else { value.into() };
                Values::Numbers(values(reader, rows, levels)?.into_iter().map(number).collect())
            }
            Self::Long(reader, is_unsigned) => {
                let number =
                    |value: i64| if *is_unsigned { i128::from(value as u64) } else { value.into() };
                Values::Numbers(values(reader, rows, levels)?.into_iter().map(number).collect())
            }
            Self::Decimal(reader) => {
                decimals(values(reader, rows, levels)?.iter().map(ByteArray::data))?
            }
            Self::FixedDecimal(reader) => {
                decimals(values(reader, rows, levels)?.iter().map(|value| value.data()))?
            }
        })
    }
}

fn values<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    rows: usize,
    levels: &mut Vec<i16>,
) -> Result<Vec<T::T>, Defect> {
    let mut values = Vec::with_capacity(rows);
    levels.clear();
    let mut left = rows;
    while left > 0 {
        let read = reader.read_records(left, Some(levels), None, &mut values);
        match read.map_err(of)?.0 {
            0 => break,
            read => left -= read,
        }
    }
    Ok(values)
}

/// Decimal numbers, which Parquet stores with the highest byte first.
fn decimals<'v>(values: impl Iterator<Item = &'v [u8]>) -> Result<Values, Defect> {
    let number = |bytes: &[u8]| {
        let is_negative = bytes.first().is_some_and(|&first| first >= 0x80);
        let fill = if is_negative { 0xff } else { 0 };
        let mut number = [fill; LONGEST_DECIMAL];
        let used = number.len().checked_sub(bytes.len()).and_then(|at| number.get_mut(at..));
        used?.copy_from_slice(bytes);
        Some(i128::from_be_bytes(number))
    };
    let numbers = values.map(number).collect::<Option<_>>();
    let too_long = || Defect::Type {
        expected: "whole numbers of up to 38 digits",
        found: "a longer one".to_owned(),
    };
    numbers.map(Values::Numbers).ok_or_else(too_long)
}

/// The crate reads no other compression, because this tool leaves out the crates that it needs for that.
fn check_compression(chunk: &ColumnChunkMetaData) -> Result<(), Defect> {
    let found = match chunk.compression() {
        Compression::UNCOMPRESSED | Compression::SNAPPY => return Ok(()),
        Compression::GZIP(_) => "gzip",
        Compression::LZO => "lzo",
        Compression::BROTLI(_) => "brotli",
        Compression::LZ4 | Compression::LZ4_RAW => "lz4",
        Compression::ZSTD(_) => "zstd",
    };
    Err(Defect::Compression(found))
}

fn of(error: ParquetError) -> Defect {
    Defect::Parquet(match error {
        ParquetError::General(what) | ParquetError::EOF(what) => what,
        other => other.to_string(),
    })
}

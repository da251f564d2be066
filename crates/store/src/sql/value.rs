//! Values bound to a statement before its database is known.

use std::sync::Arc;

use sqlx::Arguments as _;
use sqlx::error::BoxDynError;
use sqlx::sqlite::SqliteArguments;

/// A value. A null keeps its type, because PostgreSQL requires one.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Integer(Option<i64>),
    Real(Option<f64>),
    Text(Option<Arc<str>>),
    OwnedText(Option<String>),
    Bytes(Option<Vec<u8>>),
}

/// Something that can be bound.
pub(crate) trait ToValue {
    fn to_value(self) -> Value;

    /// The null of this type.
    fn null() -> Value;
}

macro_rules! to_value {
    ($variant:ident: $($type:ty => $convert:expr),* $(,)?) => {
        $(
            impl ToValue for $type {
                fn to_value(self) -> Value {
                    Value::$variant(Some(($convert)(self)))
                }

                fn null() -> Value {
                    Value::$variant(None)
                }
            }
        )*
    };
}

to_value!(Integer: bool => i64::from, u8 => i64::from, u16 => i64::from, u32 => i64::from, i32 => i64::from, i64 => |it| it);
to_value!(Real: f32 => f64::from, f64 => |it| it);
to_value!(Text: &str => Arc::from, Arc<str> => |it| it);
to_value!(OwnedText: String => |it| it);
to_value!(Bytes: Vec<u8> => |it| it, &[u8] => <[u8]>::to_vec);

impl ToValue for Value {
    fn to_value(self) -> Value {
        self
    }

    fn null() -> Value {
        Value::Text(None)
    }
}

impl<T: ToValue> ToValue for Option<T> {
    fn to_value(self) -> Value {
        self.map_or_else(T::null, T::to_value)
    }

    fn null() -> Value {
        T::null()
    }
}

impl<T: ToValue + Clone> ToValue for &T {
    fn to_value(self) -> Value {
        self.clone().to_value()
    }

    fn null() -> Value {
        T::null()
    }
}

impl Value {
    pub(crate) fn push_onto(self, arguments: &mut SqliteArguments) -> Result<(), BoxDynError> {
        match self {
            Value::Integer(value) => arguments.add(value),
            Value::Real(value) => arguments.add(value),
            Value::Text(value) => arguments.add(value),
            Value::OwnedText(value) => arguments.add(value),
            Value::Bytes(value) => arguments.add(value),
        }
    }
}

/// The values of one statement, as its database takes them.
pub(crate) enum Arguments {
    Sqlite(SqliteArguments),
    Postgres(Vec<Value>),
}

impl Arguments {
    /// Adds a value.
    pub(crate) fn add(&mut self, value: impl ToValue) -> Result<(), BoxDynError> {
        match self {
            Arguments::Sqlite(arguments) => value.to_value().push_onto(arguments),
            Arguments::Postgres(values) => {
                values.push(value.to_value());
                Ok(())
            }
        }
    }
}

/// Text as a value with one allocation; a `String` takes two.
pub(crate) fn text(text: &str) -> Arc<str> {
    Arc::from(text)
}

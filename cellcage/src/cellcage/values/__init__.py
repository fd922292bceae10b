"""Values that cross the sandbox's boundary. A folder for each family; `value_type.ValueType` adds another."""

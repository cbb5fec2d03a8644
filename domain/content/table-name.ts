/**
 * Name of the table of a content type that was deleted with its entries kept. No content type can have this name, so no
 * other type shares the table.
 */
export function keptTableName(typeId: string): string {
  return `_kept_${typeId.replaceAll('-', '')}`;
}

/**
 * Name of the table that holds the entries of a content type. Types of the same name, of all tenants, share one table.
 */
export function tableNameOf({
  id,
  name,
  deleted,
}: {
  readonly id: string;
  readonly name: string;
  readonly deleted?: boolean;
}): string {
  return deleted === true ? keptTableName(id) : name;
}

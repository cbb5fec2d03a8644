export type { Client, ClientOptions } from './create-client.ts';
export { createClient } from './create-client.ts';
export type { Content } from './content.ts';
export type { ErrorCode, FieldError } from './errors.ts';
export { PalimpsestError } from './errors.ts';
export type {
  AnyData,
  Blame,
  Change,
  ChangesOptions,
  CreateOptions,
  Difference,
  Entry,
  Envelope,
  Filter,
  FindOptions,
  Json,
  ListOptions,
  Page,
  PageOptions,
  ReadOptions,
  RequestOptions,
  Revision,
  RevisionWithData,
  WriteOptions,
  WrittenEntry,
} from './types.ts';
